"""The programs of a server on this machine, and how to run them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from binspark.folders import cache_folder
from binspark.testing.servers.cache import build_once
from binspark.testing.servers.debian import unpack_packages
from binspark.testing.servers.errors import ServerUnavailable
from binspark.testing.servers.families import Family

RUN_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of one server.

    prefix    the folder of their installation (`…/usr`)
    loader    the dynamic loader through which they are started, empty for programs on the PATH. Unpacked packages have
              their own C library, because that of the machine may be older
    """

    family: Family
    prefix: Path
    loader: tuple[str, ...]
    version: str

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command line of a program of this server."""
        return _command(self.prefix, self.loader, program, *arguments)

    def run(self, program: str, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a client program to its end, in UTC. The caller checks the return code."""
        return subprocess.run(
            self.command(program, *arguments),
            input=stdin,
            capture_output=True,
            timeout=RUN_SECONDS,
            check=False,
            env=os.environ | {"TZ": "UTC", "LC_ALL": "C.UTF-8"},
        )

    @property
    def share(self) -> Path:
        """The folder of error messages, character sets and system tables."""
        candidates = [self.prefix / "share" / name for name in ("mysql", "mariadb", ".")]
        return next((folder for folder in candidates if (folder / "charsets").is_dir()), candidates[0])

    @property
    def plugins(self) -> Path:
        """The folder of the server's plugins and components."""
        candidates = [self.prefix / "lib" / name for name in ("mysql/plugin", "plugin", "mariadb/plugin")]
        candidates += [self.prefix / "lib64" / name for name in ("mysql/plugin", "mariadb/plugin")]
        return next((folder for folder in candidates if folder.is_dir()), candidates[0])


@cache
def find_programs(family: Family) -> Programs:
    """Return the programs on the PATH, else those in the cache, which are fetched if they are not there."""
    return programs_on_path(family) or _fetched_programs(family)


def programs_on_path(family: Family) -> Programs | None:
    """Return the programs on the PATH if they include server, client and log reader of this family."""
    for name in family.server_names:
        server = Path(shutil.which(name) or "").resolve()  # MariaDB's `mysqld` is a link to its `mariadbd`
        if server.name not in family.server_names:
            continue
        announced = _announced_version(server, ())
        prefix = server.parent.parent
        complete = all(_find(prefix, program) for program in (family.client, family.log_reader))
        if family.recognizes(announced) and complete:
            return Programs(family, prefix, (), _version_number(announced))
    return None


def _fetched_programs(family: Family) -> Programs:
    folder = cache_folder() / family.name / "packages"
    root = build_once(folder, lambda empty: unpack_packages(family.packages, empty))
    prefix, loader = root / "usr", _loader(root)
    server = next((path for name in family.server_names if (path := _find(prefix, name))), None)
    if server is None:
        raise ServerUnavailable(
            f"the packages in {folder} do not include {family.server_names[0]}; delete the folder to fetch them again"
        )
    announced = _announced_version(server, loader)
    if not announced:
        raise ServerUnavailable(f"{server} does not run on this machine: --version prints nothing")
    return Programs(family, prefix, loader, _version_number(announced))


def _loader(root: Path) -> tuple[str, ...]:
    """Return the loader of the unpacked C library and the folders it searches, with or without a merged `/usr`."""
    folders = [*sorted(root.glob("usr/lib/*-linux-gnu*")), *sorted(root.glob("lib/*-linux-gnu*"))]
    loaders = [loader for folder in folders for loader in sorted(folder.glob("ld-linux*"))]
    if not loaders:
        raise ServerUnavailable(f"the packages in {root} do not include a C library")
    return (str(loaders[0]), "--library-path", ":".join(map(str, folders)))


def _command(prefix: Path, loader: tuple[str, ...], program: str, *arguments: str) -> list[str]:
    path = _find(prefix, program)
    if path is None:
        raise ServerUnavailable(f"{program} is not in {prefix}")
    return [*loader, str(path), *arguments]


def _find(prefix: Path, program: str) -> Path | None:
    candidates = (prefix / folder / program for folder in ("sbin", "bin", "libexec"))
    return next((path for path in candidates if path.is_file()), None)


def _announced_version(server: Path, loader: tuple[str, ...]) -> str:
    command = [*loader, str(server), "--no-defaults", "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _version_number(announced: str) -> str:
    match = re.search(r"Ver (\d+\.\d+\.\d+)", announced)
    return match[1] if match else announced.strip()
