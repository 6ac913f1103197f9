"""`python -m tools.unpack_packages NAME PACKAGE…`: unpack the first of these packages into the cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from binspark.folders import cache_folder
from binspark.testing.servers.cache import build_once
from binspark.testing.servers.debian import PackageSet, unpack_packages
from binspark.testing.servers.errors import ServerUnavailable


def main(name: str, packages: list[str]) -> int:
    try:
        build_once(cache_folder() / name / "packages", lambda empty: unpack_first(packages, empty))
    except ServerUnavailable as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    return 0


def unpack_first(packages: list[str], root: Path) -> None:
    """Unpack one of the packages, without dependencies: it needs only libraries that every machine has."""
    for number, package in enumerate(packages, start=1):
        try:
            unpack_packages(PackageSet(with_dependencies=(), without_dependencies=(package,)), root)
            break
        except ServerUnavailable:
            if number == len(packages):
                raise
    stay_inside(root)


def stay_inside(root: Path) -> None:
    """Change absolute links such as `lib/jvm.cfg -> /etc/java-17-openjdk/…` to the unpacked files."""
    for folder, names, files in os.walk(root):
        for link in (Path(folder, name) for name in (*names, *files)):
            if link.is_symlink() and link.readlink().is_absolute():
                target = root / link.readlink().relative_to("/")
                link.unlink()
                link.symlink_to(os.path.relpath(target, link.parent))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
