"""Every code of a finding has advice, and a test that provokes it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from binspark.verify import ADVICE, Code, verify_logs
from tests.corpus.cases import CORPUS

TESTS = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))


@pytest.mark.parametrize("code", Code, ids=str)
def test_every_code_has_advice(code: Code) -> None:
    assert ADVICE[code].endswith(".")


@pytest.mark.parametrize("code", Code, ids=str)
def test_every_code_is_provoked_by_a_test(code: Code) -> None:
    assert f'"{code.value}"' in TESTS


def test_a_report_survives_pickle() -> None:
    report = verify_logs(CORPUS / "mysql/crash-truncated")
    assert pickle.loads(pickle.dumps(report)) == report
