"""The recipe with encrypted logs, as it is in docs/recipes.md, on recorded logs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import binspark
from binspark.cli.main import exit_code
from tests.corpus.cases import CORPUS
from tests.support.recipes import recipe_commands


def test_read_an_encrypted_log(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(CORPUS / "mysql/encrypted", tmp_path / "encrypted")
    monkeypatch.chdir(tmp_path)
    printed = []
    for words in recipe_commands("Read an encrypted log"):
        assert words[0] == "binspark"
        assert exit_code(words[1:]) == 0
        printed.append(capfd.readouterr().out)
    assert "nothing is damaged or missing" in printed[0]
    assert 'insert  shop.t  id=1 a="in the first file"' in printed[1]
    assert [change.op for change in binspark.rows("clear.000001")] == ["insert", "insert", "update"]
