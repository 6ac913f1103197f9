"""Where binspark keeps files of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from binspark.folders import (
    UnsafeCacheWarning,
    cache_folder,
    state_folder,
    why_changeable,
    why_unsafe,
    writable_cache_folder,
)

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


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o757, 0o702])
def test_a_chosen_cache_folder_that_others_can_write_to_is_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: int
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    monkeypatch.setenv("BINSPARK_CACHE", str(shared))
    with pytest.warns(UnsafeCacheWarning, match="only you can write to"):
        assert writable_cache_folder() == tmp_path / ".cache" / "binspark"


@pytest.mark.parametrize(("mode", "is_safe"), [(0o755, True), (0o1777, True), (0o777, False), (0o772, False)])
def test_others_can_replace_a_folder_below_one_that_they_can_write_to(tmp_path: Path, mode: int, is_safe: bool) -> None:
    folder = tmp_path / "above" / "folder"
    folder.mkdir(parents=True)
    folder.parent.chmod(mode)
    assert (why_unsafe(folder) is None) == is_safe


def test_a_link_is_as_safe_as_the_folder_that_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    (tmp_path / "link").symlink_to("shared")
    assert why_unsafe(tmp_path / "link") == f"{tmp_path}/shared can be written to by others (mode 0777)"


def test_only_its_owner_can_write_to_a_new_cache_folder_under_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = writable_cache_folder()
    finally:
        os.umask(before)
    assert folder == tmp_path / ".cache" / "binspark"
    assert [path.stat().st_mode & 0o777 for path in (folder, folder.parent)] == [0o755, 0o755]


def found(mode: int, user: int, group: int) -> os.stat_result:
    """Return what a system says about a file."""
    return os.stat_result((mode, 1, 1, 1, user, group, 0, 0, 0, 0))


OTHER = os.geteuid() + 1
NO_GROUP = 4_000_000


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (found(0o100644, os.geteuid(), NO_GROUP), None),
        (found(0o100644, 0, 0), None),
        (found(0o100664, 0, 0), None),
        (found(0o100644, OTHER, NO_GROUP), f"belongs to another user (number {OTHER})"),
        (found(0o100664, os.geteuid(), NO_GROUP), "can be written to by others (mode 0664)"),
        (found(0o100646, os.geteuid(), 0), "can be written to by others (mode 0646)"),
    ],
)
def test_only_its_user_and_root_may_be_able_to_change_code(file: os.stat_result, reason: str | None) -> None:
    assert why_changeable(file) == reason


@pytest.mark.parametrize(("name", "members", "is_own"), [("me", [], True), ("me", ["me"], True), ("staff", [], False)])
def test_a_group_of_one_user_may_write(
    monkeypatch: pytest.MonkeyPatch, name: str, members: list[str], is_own: bool
) -> None:
    monkeypatch.setattr("pwd.getpwuid", lambda _user: SimpleNamespace(pw_name="me"))
    monkeypatch.setattr("grp.getgrgid", lambda _group: SimpleNamespace(gr_name=name, gr_mem=members))
    assert (why_changeable(found(0o100664, os.geteuid(), NO_GROUP)) is None) == is_own


def test_a_group_with_another_member_may_not_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pwd.getpwuid", lambda _user: SimpleNamespace(pw_name="me"))
    monkeypatch.setattr("grp.getgrgid", lambda _group: SimpleNamespace(gr_name="me", gr_mem=["me", "you"]))
    assert why_changeable(found(0o100664, os.geteuid(), NO_GROUP)) is not None
