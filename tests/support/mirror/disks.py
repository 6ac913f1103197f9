"""Small file systems for targets that become full or read-only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """Mount a file system with some space, as `mount` writes it; skip the test where that is not possible."""
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(path)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)  # Spark may still have a file open


def fill(disk: Path) -> Path:
    """Use all space of a file system; return the file that does."""
    found = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(bytes(found.f_bavail * found.f_frsize))
    return filler


def remount(disk: Path, mode: str) -> None:
    """Let a file system be read-only (`ro`), or writable again (`rw`)."""
    subprocess.run(["mount", "-o", f"remount,{mode}", str(disk)], check=True)
