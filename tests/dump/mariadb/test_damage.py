"""Damaged logs of MariaDB are dumped up to the damage, by the kernel as by the reference."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result

from binspark.cli.main import main
from binspark.dump.mariadb import dumper
from tests.corpus.cases import case_logs

LOG = case_logs("mariadb/format-row")[0]
IN_USE_FLAG = 4 + 17


def dump(log: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["dump", *options, str(log)])


def test_a_cut_log_is_dumped_up_to_the_cut_and_reported(tmp_path: Path) -> None:
    cut = tmp_path / "binlog.000001"
    cut.write_bytes(LOG.read_bytes()[:-10])
    result = dump(cut)
    assert result.exit_code == 1
    assert "the log ends" in result.stderr
    assert b"# End of log file" not in result.stdout_bytes
    assert dump(LOG).stdout_bytes.startswith(result.stdout_bytes)


def test_the_active_log_may_end_inside_an_event(tmp_path: Path) -> None:
    content = bytearray(LOG.read_bytes()[:-10])
    content[IN_USE_FLAG] |= 1
    active = tmp_path / "binlog.000001"
    active.write_bytes(content)
    result = dump(active)
    assert result.exit_code == 0
    assert "a server is writing the log, or has crashed while it did" in result.stderr
    assert b"# End of log file" in result.stdout_bytes
    assert dump(active, "--skip-force-if-open").exit_code == 2


def test_kernel_and_reference_stop_at_the_same_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random, log = Random(7), tmp_path / "binlog.000001"
    for _ in range(60):
        content = bytearray(LOG.read_bytes())
        content[random.randrange(300, len(content))] ^= 1 << random.randrange(8)
        log.write_bytes(content)
        outcomes = []
        for minimum in (1 << 30, 0):
            monkeypatch.setattr(dumper, "MIN_BULK_BYTES", minimum)
            result = dump(log, "-vv")
            outcomes.append((result.exit_code, result.stderr, result.stdout_bytes))
        assert outcomes[0] == outcomes[1]
        assert outcomes[0][0] in (0, 1)
