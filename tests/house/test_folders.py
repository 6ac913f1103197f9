"""Where binspark keeps files of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from binspark.folders import cache_folder, state_folder, writable_cache_folder

VARIABLES = ("BINSPARK_CACHE", "BINSPARK_STATE", "XDG_CACHE_HOME", "XDG_STATE_HOME")
NO_SUCH_HOME = "/proc/no-such-home"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A home of its own, and no variable that says otherwise."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.mark.parametrize(
    ("folder", "own", "base", "below_home"),
    [
        (cache_folder, "BINSPARK_CACHE", "XDG_CACHE_HOME", ".cache"),
        (state_folder, "BINSPARK_STATE", "XDG_STATE_HOME", ".local/state"),
    ],
)
def test_a_folder_is_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: Callable[[], Path], own: str, base: str, below_home: str
) -> None:
    assert folder() == tmp_path / below_home / "binspark"
    monkeypatch.setenv(base, str(tmp_path / "base"))
    assert folder() == tmp_path / "base" / "binspark"
    monkeypatch.setenv(own, str(tmp_path / "own"))
    assert folder() == tmp_path / "own"
    assert list(tmp_path.iterdir()) == []


def test_a_writable_cache_folder_is_created(tmp_path: Path) -> None:
    assert writable_cache_folder() == tmp_path / ".cache" / "binspark"
    assert list(writable_cache_folder().iterdir()) == []


def test_a_chosen_cache_folder_that_cannot_be_written_is_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BINSPARK_CACHE", NO_SUCH_HOME)
    assert writable_cache_folder() == tmp_path / ".cache" / "binspark"


def test_without_a_home_the_cache_is_a_private_temporary_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", NO_SUCH_HOME)
    folder = writable_cache_folder()
    assert folder == tmp_path / f"binspark-{os.getuid()}" == writable_cache_folder()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_temporary_folder_that_others_can_write_to_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", NO_SUCH_HOME)
    shared = tmp_path / f"binspark-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    assert writable_cache_folder() != shared
    assert writable_cache_folder().parent == tmp_path
