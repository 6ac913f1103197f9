"""Writes the logs of a Mysql server."""

from __future__ import annotations

from binspark.dump.dumper import Warn
from binspark.dump.output import Output
from binspark.dump.settings import DumpSettings
from binspark.files.sources import LogSource


class MysqlDumper:
    """Writes logs as the server's own tool does."""

    def __init__(self, settings: DumpSettings, output: Output, warn: Warn) -> None:
        self._settings = settings
        self._output = output
        self._warn = warn

    def begin(self) -> None:
        """Write what comes before the first log."""

    def dump(self, source: LogSource) -> bool:
        """Write one log; return whether the next one is wanted."""
        return bool(source)

    def end(self) -> None:
        """Write what comes after the last log."""
