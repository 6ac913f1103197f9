"""Java libraries for tests, fetched once by Maven."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from binspark.folders import cache_folder
from binspark.testing.servers.cache import build_once

_FETCH_SECONDS = 300


class NoJars(Exception):
    """Libraries cannot be had here."""


def fetched_jars(pom: Path, name: str) -> Path:
    """Return the folder with the libraries that a POM names, and what they need; `name` is for the cache."""
    for program in ("mvn", "java"):
        if shutil.which(program) is None:
            raise NoJars(f"{program} is not installed")

    def fetch(folder: Path) -> None:
        repository = f"-Dmaven.repo.local={folder / 'maven'}"
        command = ["mvn", "-q", "-B", "-f", str(pom), repository, "dependency:copy-dependencies"]
        try:
            subprocess.run(
                [*command, f"-DoutputDirectory={folder}"], check=True, capture_output=True, timeout=_FETCH_SECONDS
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise NoJars(f"Maven cannot fetch {name}") from error
        shutil.rmtree(folder / "maven")

    version = hashlib.sha256(pom.read_bytes()).hexdigest()[:8]
    return build_once(cache_folder() / f"{name}-{version}", fetch)
