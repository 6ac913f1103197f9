"""Every command explains itself, in text that a terminal shows as it is meant."""

from __future__ import annotations

import pytest

from binspark.cli.main import COMMANDS, exit_code


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_no_escapes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: binspark {command} ")
    assert "\\" not in shown
