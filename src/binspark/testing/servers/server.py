"""A running server: started on a free loopback port with a temporary folder, and stopped at the end."""

from __future__ import annotations

import importlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from binspark.testing.servers.errors import ServerUnavailable, SqlFailed
from binspark.testing.servers.families import Family, OptionValue
from binspark.testing.servers.programs import Programs, find_programs
from binspark.testing.servers.template import copy_template, server_command

LOOPBACK = "127.0.0.1"
START_SECONDS = 60
STOP_SECONDS = 60
PORT_ATTEMPTS = 3


@contextmanager
def start(family: Family, options: Mapping[str, OptionValue] | None = None) -> Iterator[Server]:
    """Start a server with a new data folder; at the end, stop it and remove the folder.

    `options` are server options as on the command line, without the dashes; None for an option without a value. They
    override those of the family (`family.options`).

    >>> with start(MariaDB, {"binlog-row-image": "MINIMAL"}) as server:  # doctest: +SKIP
    ...     server.query("SELECT @@binlog_row_image")
    [('MINIMAL',)]
    """
    programs = find_programs(family)
    folder = Path(tempfile.mkdtemp(prefix="binspark-"))
    try:
        copy_template(programs, folder / "data")
        server = Server(programs, folder, {**family.options, **_normal_names(options)})
        try:
            server.launch()
            yield server
        finally:
            server.kill()  # its data is removed, so it need not shut down in order
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    """A server that `start` has started."""

    def __init__(self, programs: Programs, folder: Path, options: Mapping[str, OptionValue]) -> None:
        self.programs = programs
        self.options = dict(options)
        self.datadir = folder / "data"
        self.socket = folder / "socket"
        self.error_log = folder / "error.log"
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def family(self) -> Family:
        """MySQL or MariaDB."""
        return self.programs.family

    @property
    def version(self) -> str:
        """The server's version number, such as `9.7.4`."""
        return self.programs.version

    @property
    def pid(self) -> int | None:
        """The process id of the server; None if it is not running."""
        return self._process.pid if self._process else None

    def connect(self, **arguments: Any) -> Any:
        """Open a PyMySQL connection as root, with autocommit; `arguments` as for `pymysql.connect`.

        It is not encrypted: PyMySQL would load all certificate authorities of the machine for each connection, which
        takes a hundred times as long as the connection.
        """
        defaults = {"host": LOOPBACK, "port": self.port, "user": "root", "autocommit": True, "charset": "utf8mb4"}
        defaults["ssl_disabled"] = True
        return _pymysql().connect(**{**defaults, **arguments})

    def query(self, sql: str, arguments: Any = None) -> list[tuple[Any, ...]]:
        """Run one statement in a new session and return its rows."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql, arguments)
            return list(cursor.fetchall())

    def run_sql(self, script: str, *client_options: str) -> str:
        """Run a script in one session of the command line client, and return its output."""
        options = ("--no-defaults", f"--socket={self.socket}", "--user=root", "--local-infile=1", *client_options)
        done = self.programs.run(self.family.client, *options, stdin=script.encode(errors="surrogateescape"))
        if done.returncode:
            raise SqlFailed(done.stderr.decode(errors="replace").strip())
        return done.stdout.decode(errors="replace")

    def mysqlbinlog(self, path: Path | str, *options: str) -> bytes:
        """Return the output of mysqlbinlog or mariadb-binlog for a log, in UTC."""
        done = self.programs.run(self.family.log_reader, "--no-defaults", *options, str(path))
        if done.returncode:
            raise SqlFailed(f"{self.family.log_reader}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def log_files(self) -> list[Path]:
        """Return the paths of the server's binary logs, oldest first, as its index file lists them."""
        base = self.datadir / str(self.options["log-bin"])
        index = base.with_name(f"{base.name}.index")
        names = index.read_text().splitlines() if index.exists() else []
        return [self.datadir / name for name in names if name]

    def kill(self) -> None:
        """Kill the server (SIGKILL), as in a crash."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Shut the server down in order (SIGTERM)."""
        self._end(signal.SIGTERM)

    def restart(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """Stop the server if it is running, and start it again with the same data and port, and these options."""
        self.stop()
        self.options.update(_normal_names(options))
        self.launch()

    def launch(self) -> None:
        """Start the server process and wait until it accepts connections; try another port if this one is taken."""
        for _ in range(PORT_ATTEMPTS):
            self.port = self.port or _free_port()
            if self._spawn_and_wait():
                return
            self.port = 0
        raise ServerUnavailable(f"{self.family.title} found no free port in {PORT_ATTEMPTS} attempts")

    def _spawn_and_wait(self) -> bool:
        """Return whether the server has started; False if another process took its port in the meantime."""
        written_before = self.error_log.stat().st_size if self.error_log.exists() else 0
        with self.error_log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # an interrupt from the keyboard must not reach the server
            )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                self._process = None
                return self._explain_end(written_before)
            if self._answers():
                return True
            time.sleep(0.02)
        self.kill()
        title, tail = self.family.title, self._log_tail(0)
        raise ServerUnavailable(
            f"{title} accepts no connection after {START_SECONDS} s; its error log ends with: {tail}"
        )

    def _explain_end(self, written_before: int) -> bool:
        said = self._log_tail(written_before)
        if "Address already in use" in said:
            return False
        raise ServerUnavailable(f"{self.family.title} {self.version} ended while starting; its error log: {said}")

    def _log_tail(self, start_offset: int) -> str:
        written = self.error_log.read_bytes()[start_offset:]
        return written[-2000:].decode(errors="replace")

    def _command(self) -> list[str]:
        folder = self.datadir.parent
        # A server that starts deletes the temporary tables that it finds: in a shared folder, those of others too.
        own = (f"--port={self.port}", f"--socket={self.socket}", f"--pid-file={folder / 'pid'}", f"--tmpdir={folder}")
        given = [f"--{name}" if value is None else f"--{name}={value}" for name, value in self.options.items()]
        return server_command(self.programs, self.datadir, *own, *given)

    def _answers(self) -> bool:
        pymysql = _pymysql()
        try:
            self.connect(connect_timeout=5).close()
        except pymysql.err.OperationalError:
            return False
        return True

    def _end(self, how: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        self._process = None
        process.send_signal(how)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _normal_names(options: Mapping[str, OptionValue] | None) -> dict[str, OptionValue]:
    """Write option names with dashes, so that `server_id` overrides `server-id`."""
    return {name.replace("_", "-"): value for name, value in (options or {}).items()}


def _pymysql() -> Any:
    try:
        return importlib.import_module("pymysql")
    except ImportError as error:
        raise ServerUnavailable("connections to a server require PyMySQL: pip install pymysql") from error
