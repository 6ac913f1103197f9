"""How `make demo` and `make test` find a Java, and what becomes of an unpacked one."""

from __future__ import annotations

import os
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
stay_inside = runpy.run_path(str(ROOT / "tools" / "unpack_packages.py"))["stay_inside"]


def java_of_version(version: str, home: Path) -> Path:
    """Make a program that announces a version as Java does."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"""#!/bin/sh\necho 'Picked up JAVA_TOOL_OPTIONS: -Dx=y\nopenjdk version "{version}" 2026' >&2\n"""
    )
    program.chmod(0o755)
    return home


def found_java(**environment: str) -> str:
    done = subprocess.run([ROOT / "tools" / "java"], capture_output=True, text=True, env=os.environ | environment)
    return done.stdout.strip()


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.1"])
def test_the_java_in_java_home_is_taken_from_17_on(version: str, tmp_path: Path) -> None:
    home = java_of_version(version, tmp_path / "java")
    assert found_java(JAVA_HOME=str(home)) == str(home)


@pytest.mark.parametrize("version", ["1.8.0_442", "11.0.27", "16.0.2"])
def test_an_old_java_is_passed_over(version: str, tmp_path: Path) -> None:
    old = java_of_version(version, tmp_path / "old")
    new = java_of_version("17.0.1", tmp_path / "new")
    path = f"{new / 'bin'}:{os.environ['PATH']}"
    assert found_java(JAVA_HOME=str(old), PATH=path) == str(new)


def test_links_of_an_unpacked_package_lead_to_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "jvm.cfg").write_text("-server KNOWN")
    library = tmp_path / "usr" / "lib"
    library.mkdir(parents=True)
    (library / "jvm.cfg").symlink_to("/etc/jvm.cfg")
    (library / "beside").symlink_to("jvm.cfg")
    stay_inside(tmp_path)
    assert (library / "beside").read_text() == "-server KNOWN"
    assert (library / "jvm.cfg").readlink() == Path("../../etc/jvm.cfg")
