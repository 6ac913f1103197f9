"""Dumps logs: each family of servers has its own text."""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from binspark.columns.selection import Selection
from binspark.dump.dumper import Dumper, Warn
from binspark.dump.output import BufferedOutput
from binspark.dump.settings import DumpSettings, MariadbSettings
from binspark.errors import DecodeError, OptionError
from binspark.files.log_head import read_head
from binspark.files.sources import LogSource
from binspark.files.standard_input import STANDARD_INPUT
from binspark.frames.format import SERVER_VERSION_LENGTH, Family, family_of
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.schema.history import SchemaHistory

_VERSION_START = FIRST_EVENT_OFFSET + HEADER_LENGTH + 2
_VERSION_END = _VERSION_START + SERVER_VERSION_LENGTH


def dump_logs(
    sources: Sequence[LogSource],
    settings: DumpSettings,
    output: BufferedOutput,
    warn: Warn,
    history: SchemaHistory | None = None,
) -> None:
    """Write logs as the tool of their servers prints them. A condition knows the tables of `history`.

    A `DecodeError` is raised after everything that precedes the damage was written, with what ends a dump.
    """
    if settings.selection.where is None:
        _dump_logs(sources, settings, output, warn)
    else:
        _dump_rows(sources, settings, output, warn, history or SchemaHistory())


def _dump_rows(
    sources: Sequence[LogSource], settings: DumpSettings, output: BufferedOutput, warn: Warn, history: SchemaHistory
) -> None:
    """Write the rows that a condition selects: the log that `cut` makes of them."""
    from binspark.cut import CutOptions, cut_logs  # loads what reads rows

    with tempfile.TemporaryDirectory(prefix="binspark-") as folder:
        path = Path(folder) / "binlog.000001"
        damage: DecodeError | None = None
        try:
            cut_logs(sources, path, CutOptions(settings.selection, history=history, damaged=True))
        except DecodeError as error:
            damage = error
        if path.exists():
            _dump_logs([LogSource(str(path))], replace(settings, selection=Selection()), output, warn)
    if damage is not None:
        raise damage


def _dump_logs(sources: Sequence[LogSource], settings: DumpSettings, output: BufferedOutput, warn: Warn) -> None:
    dumper = _dumper(sources, settings, output, warn)
    dumper.begin()
    try:
        for source in sources:
            if not dumper.dump(source):
                break
    finally:
        dumper.end()


def _dumper(sources: Sequence[LogSource], settings: DumpSettings, output: BufferedOutput, warn: Warn) -> Dumper:
    families = {family_of_log(source): source for source in sources}
    if len(families) > 1:
        raise OptionError(
            f"{' and '.join(source.name for source in families.values())} are of MySQL and of MariaDB: "
            "dump the logs of each family on their own"
        )
    if Family.MARIADB in families:
        from binspark.dump.mariadb.dumper import MariadbDumper  # each is loaded if it is needed

        return MariadbDumper(settings, output, warn)
    _refuse_options_of_mariadb(settings.mariadb)
    from binspark.dump.mysql.dumper import MysqlDumper

    return MysqlDumper(settings, output, warn)


def _refuse_options_of_mariadb(settings: MariadbSettings) -> None:
    for field in fields(settings):
        if getattr(settings, field.name) != field.default:
            option = field.name.replace("_gtids", "_position")
            raise OptionError("is given as only mariadb-binlog knows it, but the log is of MySQL", option=option)


def family_of_log(source: LogSource) -> Family:
    """Return who wrote a log, by the version in its first event; MySQL if that cannot be read."""
    if source.name == STANDARD_INPUT:
        start = sys.stdin.buffer.peek(_VERSION_END) if isinstance(sys.stdin.buffer, io.BufferedReader) else b""
        return _family_of_start(start)
    start = b""
    try:
        with source.open() as file:
            start = file.peek(_VERSION_END)
            return read_head(file, source.name).format.family
    except DecodeError:
        return _family_of_start(start)


def _family_of_start(start: bytes) -> Family:
    """Return who wrote a log whose first event is damaged, or cannot be read twice."""
    return family_of(start[_VERSION_START:_VERSION_END].decode("latin-1"))
