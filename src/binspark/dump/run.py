"""Dumps logs: each family of servers has its own text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from binspark.dump.dumper import Dumper, Warn
from binspark.dump.output import Output
from binspark.dump.selected import check_selection
from binspark.dump.settings import DumpSettings, MariadbSettings
from binspark.errors import DecodeError, OptionError
from binspark.files.log_head import read_head
from binspark.files.sources import STANDARD_INPUT, LogSource
from binspark.frames.format import Family


def dump_logs(sources: Sequence[LogSource], settings: DumpSettings, output: Output, warn: Warn) -> None:
    """Write logs as the tool of their servers prints them.

    A `DecodeError` is raised after everything that precedes the damage was written, with what ends a dump.
    """
    check_selection(settings.selection)
    dumper = _dumper(sources, settings, output, warn)
    dumper.begin()
    try:
        for source in sources:
            if not dumper.dump(source):
                break
    finally:
        dumper.end()


def _dumper(sources: Sequence[LogSource], settings: DumpSettings, output: Output, warn: Warn) -> Dumper:
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
    """Return who wrote a log, by its first event; MySQL if that cannot be read."""
    if source.name == STANDARD_INPUT:
        return Family.MYSQL
    try:
        with source.open() as file:
            return read_head(file, source.name).format.family
    except DecodeError:
        return Family.MYSQL
