"""`binspark demo` without Spark, and how it is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.cli import demo
from binspark.cli.demo import STEPS, Step
from binspark.cli.main import exit_code


@pytest.fixture
def short_tour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only the last command of the tour, which reads no log."""
    monkeypatch.setattr(demo, "TOUR", demo.TOUR[-1:])


def test_without_pyspark_every_command_is_shown_and_the_way_to_spark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda _name: None)
    assert exit_code(["demo"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("$ binspark") == len(demo.TOUR)
    assert "pip install 'binspark[spark]'" in captured.out
    assert captured.err == ""


@pytest.mark.usefixtures("short_tour")
def test_without_java_the_commands_are_shown_and_java_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert exit_code(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "$ binspark gtid" in shown
    assert "Java 17 or later" in shown


@pytest.mark.usefixtures("short_tour")
def test_the_user_may_leave_spark_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["demo", "--no-spark"]) == 0
    shown = capsys.readouterr().out
    assert "$ binspark gtid" in shown
    assert "was skipped" not in shown


def test_a_directory_that_is_not_empty_is_not_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").touch()
    assert exit_code(["demo", "-o", str(tmp_path)]) == 2
    assert "--output must be an empty or new directory, got" in capsys.readouterr().err


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.title)
def test_a_step_is_a_few_lines_that_fit_a_screen(step: Step) -> None:
    lines = step.code.splitlines()
    assert len(lines) <= 5
    assert max(map(len, lines)) <= 100
