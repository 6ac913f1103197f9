"""Data folders: initialised once for each server version, then copied for every server."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from binspark.folders import cache_folder
from binspark.testing.servers.cache import build_once
from binspark.testing.servers.errors import ServerUnavailable
from binspark.testing.servers.families import MariaDB, MySQL
from binspark.testing.servers.programs import Programs

LOOPBACK_ROOT = "CREATE USER IF NOT EXISTS root@'127.0.0.1';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n"
"""The server does not resolve names, so 127.0.0.1 is a host of its own."""

MARIADB_SYSTEM_SQL = (
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "fill_help_tables.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
)
"""What `mariadb-install-db` feeds to the server, in its order. From 11.8 on, files are named after MariaDB."""


def copy_template(programs: Programs, datadir: Path) -> None:
    """Make a fresh data folder: a copy of the template, without the identity that a first start invents."""
    template = cache_folder() / programs.family.name / f"data-{programs.version}"
    build_once(template, lambda empty: _INITIALISE[programs.family](programs, empty))
    shutil.copytree(template, datadir)


def server_command(programs: Programs, datadir: Path, *arguments: str) -> list[str]:
    """Spell the server's command line up to its data folder; `--no-defaults` has to come first."""
    server_name = next(name for name in programs.family.server_names if _has(programs, name))
    places = (
        f"--basedir={programs.prefix}",
        f"--lc-messages-dir={programs.share}",
        f"--character-sets-dir={programs.share / 'charsets'}",
        f"--plugin-dir={programs.plugins}",
        f"--datadir={datadir}",
    )
    user = (f"--user={getpass.getuser()}",) if os.geteuid() == 0 else ()
    return programs.command(server_name, "--no-defaults", *places, *user, *arguments)


def _has(programs: Programs, name: str) -> bool:
    return any((programs.prefix / folder / name).is_file() for folder in ("sbin", "bin", "libexec"))


def _initialise_mysql(programs: Programs, folder: Path) -> None:
    """Let `mysqld --initialize-insecure` make the system tables: root has no password."""
    init_file = folder.with_name(f"{folder.name}.sql")
    init_file.write_text(LOOPBACK_ROOT)
    options = ("--initialize-insecure", f"--init-file={init_file}", "--skip-log-bin")
    speed = ("--innodb-doublewrite=OFF", "--innodb-redo-log-capacity=16M", "--innodb-buffer-pool-size=32M")
    try:
        _run_server(server_command(programs, folder, *options, *speed), b"")
    finally:
        init_file.unlink()
    (folder / "auto.cnf").unlink(missing_ok=True)


def _initialise_mariadb(programs: Programs, folder: Path) -> None:
    """Feed the system tables to `mariadbd --bootstrap`, as `mariadb-install-db` does."""
    script = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
    script += "".join(_system_sql(programs.share, name) for name in MARIADB_SYSTEM_SQL)
    script += f"FLUSH PRIVILEGES;\n{LOOPBACK_ROOT}"
    options = ("--bootstrap", "--silent-startup", "--log-warnings=0", "--max-allowed-packet=8M")
    speed = ("--innodb-doublewrite=OFF", "--innodb-log-file-size=8M", "--skip-log-bin")
    _run_server(server_command(programs, folder, *options, *speed), script.encode())


def _system_sql(share: Path, name: str) -> str:
    """Return the text of a file, whichever of its names it has."""
    renamed = share / name.replace("mysql_", "mariadb_")
    return (renamed if renamed.exists() else share / name).read_text()


def _run_server(command: list[str], stdin: bytes) -> None:
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    if done.returncode:
        raise ServerUnavailable(f"the data folder cannot be initialised: {done.stderr.decode()[-1000:]}")


_INITIALISE: dict[object, Callable[[Programs, Path], None]] = {
    MySQL: _initialise_mysql,
    MariaDB: _initialise_mariadb,
}
