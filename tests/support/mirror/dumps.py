"""Dumps by the programs of the servers."""

from __future__ import annotations

from pathlib import Path

from binspark.testing.servers import Server


def dump_with(server: Server, path: Path, *options: str) -> Path:
    """Dump databases with the family's own program, and the position in the log."""
    is_mariadb = server.family.name == "mariadb"
    position = ["--master-data=2", "--gtid"] if is_mariadb else ["--source-data=2", "--set-gtid-purged=ON"]
    program = "mariadb-dump" if is_mariadb else "mysqldump"
    given = ["--no-defaults", f"--socket={server.socket}", "--user=root", "--single-transaction", *position, *options]
    done = server.programs.run(program, *given)
    assert done.returncode == 0, done.stderr
    path.write_bytes(done.stdout)
    return path
