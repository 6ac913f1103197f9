"""Data folders: initialized once for each server version, then copied for every server."""

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
"""The server does not resolve names, so that 127.0.0.1 is another host than localhost."""

MARIADB_SYSTEM_SQL = (
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "fill_help_tables.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
)
"""The scripts that `mariadb-install-db` runs, in its order. Since 11.8, their names begin with `mariadb_`."""


def copy_template(programs: Programs, datadir: Path) -> None:
    """Make a new data folder: a copy of the template, without the UUID that the first start generates."""
    template = cache_folder() / programs.family.name / f"data-{programs.version}"
    build_once(template, lambda empty: _INITIALIZE[programs.family](programs, empty))
    shutil.copytree(template, datadir)


def server_command(programs: Programs, datadir: Path, *arguments: str) -> list[str]:
    """Return the command line of the server; `--no-defaults` must be its first option."""
    server_name = next(name for name in programs.family.server_names if _has(programs, name))
    folders = (
        f"--basedir={programs.prefix}",
        f"--lc-messages-dir={programs.share}",
        f"--character-sets-dir={programs.share / 'charsets'}",
        f"--plugin-dir={programs.plugins}",
        f"--datadir={datadir}",
    )
    user = (f"--user={getpass.getuser()}",) if os.geteuid() == 0 else ()
    return programs.command(server_name, "--no-defaults", *folders, *user, *arguments)


def _has(programs: Programs, name: str) -> bool:
    return any((programs.prefix / folder / name).is_file() for folder in ("sbin", "bin", "libexec"))


def _initialize_mysql(programs: Programs, folder: Path) -> None:
    """Create the system tables with `mysqld --initialize-insecure`: root has no password."""
    init_file = folder.with_name(f"{folder.name}.sql")
    init_file.write_text(LOOPBACK_ROOT)
    options = ("--initialize-insecure", f"--init-file={init_file}", "--skip-log-bin")
    speed = ("--innodb-doublewrite=OFF", "--innodb-redo-log-capacity=16M", "--innodb-buffer-pool-size=32M")
    try:
        _run_server(server_command(programs, folder, *options, *speed), b"")
    finally:
        init_file.unlink()
    (folder / "auto.cnf").unlink(missing_ok=True)


def _initialize_mariadb(programs: Programs, folder: Path) -> None:
    """Create the system tables with `mariadbd --bootstrap`, as `mariadb-install-db` does."""
    script = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
    script += "".join(_system_sql(programs.share, name) for name in MARIADB_SYSTEM_SQL)
    script += f"FLUSH PRIVILEGES;\n{LOOPBACK_ROOT}"
    options = ("--bootstrap", "--silent-startup", "--log-warnings=0", "--max-allowed-packet=8M")
    speed = ("--innodb-doublewrite=OFF", "--innodb-log-file-size=8M", "--skip-log-bin")
    _run_server(server_command(programs, folder, *options, *speed), script.encode())


def _system_sql(share: Path, name: str) -> str:
    """Return the text of a script under its old or its new name."""
    renamed = share / name.replace("mysql_", "mariadb_")
    return (renamed if renamed.exists() else share / name).read_text()


def _run_server(command: list[str], stdin: bytes) -> None:
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    if done.returncode:
        raise ServerUnavailable(f"cannot initialize the data folder: {done.stderr.decode()[-1000:]}")


_INITIALIZE: dict[object, Callable[[Programs, Path], None]] = {
    MySQL: _initialize_mysql,
    MariaDB: _initialize_mariadb,
}
