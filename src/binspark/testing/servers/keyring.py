"""MySQL with a keyring, which its encrypted logs need."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

from binspark.testing.servers.programs import Programs

_COMPONENT = "component_keyring_file"


def with_keyring(programs: Programs, prefix: Path, keyring: Path) -> Programs:
    """Make an installation with a keyring, whose configuration must be beside the program and in the plugin folder."""
    plugins = prefix / "lib/mysql/plugin"
    plugins.mkdir(parents=True)
    (prefix / "sbin").mkdir()
    shutil.copy2(programs.prefix / "sbin/mysqld", prefix / "sbin/mysqld")
    (prefix / "bin").symlink_to(programs.prefix / "bin")
    (prefix / "share").symlink_to(programs.prefix / "share")
    (plugins / f"{_COMPONENT}.so").symlink_to(programs.plugins / f"{_COMPONENT}.so")
    (prefix / "sbin/mysqld.my").write_text(json.dumps({"components": f"file://{_COMPONENT}"}))
    (plugins / f"{_COMPONENT}.cnf").write_text(json.dumps({"path": str(keyring), "read_only": False}))
    return dataclasses.replace(programs, prefix=prefix)
