"""Recording of one case: its server, its scripts, and the logs that are kept."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from binspark.testing.servers import Family, MySQL, Server, start
from binspark.testing.servers.families import OptionValue

SQL_FOLDER = Path(__file__).with_name("sql")
WITNESS_OPTIONS = ("--verbose", "--verbose", "--base64-output=decode-rows", "--force-if-open", "--print-table-metadata")

Options = dict[str, OptionValue]


@dataclass
class Recorder:
    """The server of one case, and the folder for its logs."""

    family: Family
    options: Options
    folder: Path
    running: ExitStack
    server: Server = field(init=False)

    def __post_init__(self) -> None:
        self.server = self.start_another({})

    def start_another(self, options: Options) -> Server:
        """Start another server with the options of the case and these; it is stopped with the case."""
        return self.running.enter_context(start(self.family, {**self.options, **options}))

    def script(self, name: str) -> None:
        """Run one of the scripts in the folder `sql`."""
        self.server.run_sql((SQL_FOLDER / name).read_text(), "--default-character-set=utf8mb4")

    def sql(self, text: str) -> None:
        """Run statements in a new session."""
        self.server.run_sql(text, "--default-character-set=utf8mb4")

    def keep_logs_after_stop(self) -> None:
        """Stop the server in order, then keep all its logs and their index."""
        self.server.stop()
        self.keep_logs()

    def keep_logs(self) -> None:
        """Keep all logs and the index as they are on disk now."""
        logs = self.server.log_files()
        self.keep(*logs)
        index = logs[0].with_suffix(".index")
        shutil.copyfile(index, self.folder / index.name)

    def keep(self, *logs: Path, name: str = "") -> None:
        """Copy logs into the corpus, each with the output of mysqlbinlog for it."""
        for log in logs:
            kept = self.folder / (name or log.name)
            shutil.copyfile(log, kept)
            kept.with_name(f"{kept.name}.txt").write_bytes(witness(self.server, kept))

    def keep_damaged(self, log: Path) -> None:
        """Copy a log that mysqlbinlog does not read to its end, with its output and its error message."""
        kept = self.folder / log.name
        shutil.copyfile(log, kept)
        done = self.server.programs.run(self.family.log_reader, "--no-defaults", *WITNESS_OPTIONS, str(kept))
        kept.with_name(f"{kept.name}.txt").write_bytes(done.stdout)
        message = done.stderr.replace(f"{self.folder}/".encode(), b"")
        kept.with_name(f"{kept.name}.stderr").write_bytes(message)

    def forget_logs(self) -> None:
        """Remove the logs of a stopped server, so that it begins again with the first one."""
        logs = self.server.log_files()
        for path in (*logs, logs[0].with_suffix(".index")):
            path.unlink()

    def keep_what_server_sends(self, *options: str) -> None:
        """Keep the output of mysqlbinlog for each log as the running server sends it, decrypted."""
        remote = ("--read-from-remote-server", "--host=127.0.0.1", f"--port={self.server.port}", "--user=root")
        for log in self.server.log_files():
            text = self.server.mysqlbinlog(log.name, *remote, *WITNESS_OPTIONS[:3], *options)
            (self.folder / f"{log.name}.txt").write_bytes(text)

    def keep_without_witness(self, *logs: Path) -> None:
        """Copy logs that mysqlbinlog cannot read from a file."""
        for log in logs:
            shutil.copyfile(log, self.folder / log.name)


def witness(server: Server, log: Path) -> bytes:
    """Return the output of mysqlbinlog for a log. It writes files of LOAD DATA to a folder that is removed."""
    with tempfile.TemporaryDirectory(prefix="witness-") as spill:
        text = server.mysqlbinlog(log, *WITNESS_OPTIONS, f"--local-load={spill}")
        return text.replace(f"{spill}/".encode(), b"").replace(spill.encode(), b"")


def is_mysql(recorder: Recorder) -> bool:
    """Return whether the case is recorded on MySQL."""
    return recorder.family is MySQL
