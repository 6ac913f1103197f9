"""Folders in the cache are complete or absent, however many processes build them and however they end."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from binspark.testing.servers import ServerUnavailable
from binspark.testing.servers.cache import build_once


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    def fail_halfway(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_once(tmp_path / "built", fail_halfway)
    assert [path.name for path in tmp_path.iterdir()] == ["built.lock"]


def test_the_remains_of_a_killed_build_are_removed(tmp_path: Path) -> None:
    (tmp_path / "built.building-dead").mkdir()
    build_once(tmp_path / "built", lambda folder: (folder / "complete").touch())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["built", "built.lock"]


def test_the_error_for_an_impossible_cache_folder_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerUnavailable, match="cache folder"):
        build_once(tmp_path / "file" / "cache" / "built", lambda folder: None)


def test_only_one_of_many_processes_builds(tmp_path: Path) -> None:
    builds: list[Path] = []

    def build_slowly(folder: Path) -> None:
        builds.append(folder)
        time.sleep(0.05)

    askers = [threading.Thread(target=build_once, args=(tmp_path / "built", build_slowly)) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len(builds) == 1
