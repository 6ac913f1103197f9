"""A mirror as one call: `binspark.mirror`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Unpack

from binspark.changes.selection_options import SELECTION_OPTIONS
from binspark.columns.options import ColumnOptions
from binspark.errors import OptionError
from binspark.files.storage.options import Storage
from binspark.files.storage.uri import hide_credentials
from binspark.kernels import cache
from binspark.mirror.run import Mirror
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS as MIRROR_COLUMNS
from binspark.mirror.settings import DropMode, MirrorSettings, SnapshotMode
from binspark.mirror.source.change_source import ArchiveChanges, ChangeSource, ServerChanges, TablePatterns
from binspark.mirror.targets.parse import Format, StorageOptions, parse_target
from binspark.monitoring.reporter import OnStatus
from binspark.monitoring.settings import metrics_settings
from binspark.monitoring.status import Status
from binspark.options.arguments import check_session, path_argument, path_arguments
from binspark.options.mirror import MIRROR_OPTIONS, MirrorArguments
from binspark.options.monitoring import METRICS_OPTIONS
from binspark.options.option import Option, OptionTable, Surface, warn_renamed
from binspark.options.server import STREAM_OPTIONS, ServerArguments, connection_arguments
from binspark.server.config import ConnectionConfig, connection_config

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from binspark.mirror.query_progress import QueryProgress
    from binspark.mirror.runners.runner import Runner

Source = ConnectionConfig | ServerArguments | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A server, by its connection or the options of one; or the logs of one: an archive, files, patterns."""

_OF_ROWS = tuple(
    option
    for option in SELECTION_OPTIONS
    if option.name in ("tables", "exclude_tables", "zero_dates", "undecodable", "time")
)
_START = next(option for option in STREAM_OPTIONS if option.name == "start")
_OPTIONS: OptionTable[Option] = OptionTable(
    (*MIRROR_OPTIONS, *METRICS_OPTIONS, *_OF_ROWS, _START), Surface.PYTHON, warn_renamed
)
_FIELDS = {
    "mirror_id": "mirror_id",
    "from_dump": "from_dump",
    "resnapshot": "resnapshot",
    "start": "start",
    "once": "once",
    "apply_every": "apply_seconds",
    "apply_bytes": "apply_bytes",
    "local_bytes": "local_bytes",
    "rows_per_chunk": "rows_per_chunk",
    "history": "history",
    "scd2": "scd2",
    "accept_foreign": "accept_foreign",
    "clean_up_every": "clean_up_seconds",
    "keep_versions": "keep_seconds",
}
"""The options that are fields of `MirrorSettings`."""


def mirror(
    spark: SparkSession | None,
    source: Source,
    target: str | os.PathLike[str],
    tables: str | Iterable[str],
    *,
    storage: StorageOptions | None = None,
    on_report: OnStatus | None = None,
    **options: Unpack[MirrorArguments],
) -> Status:
    """Bring tables of a target up to date with their source; return how far they are.

    spark      its executors copy large tables and apply large ranges of the log; with None, this process does all of it
    source     a server: the options of a connection as a dictionary; or logs: an archive, files, patterns
    target     a directory or a URI
    tables     names, or patterns such as `shop.*`
    storage    how the target is reached, if its URI and the environment do not say it: `{"region": "eu-west-1"}`
    on_report  is called with the progress

    The other options are those of `MirrorArguments`. With `once=False` the call does not end: `open_mirror` returns
    what can be stopped.

    >>> binspark.mirror(spark, {"host": "db1", "user": "repl"}, "s3://lake/", "shop.*")  # doctest: +SKIP
    """
    options.setdefault("once", True)
    return open_mirror(spark, source, target, tables, storage=storage, on_report=on_report, **options).run()


def open_mirror(
    spark: SparkSession | Callable[[], SparkSession] | None,
    source: Source,
    target: str | os.PathLike[str],
    tables: str | Iterable[str],
    *,
    storage: StorageOptions | None = None,
    on_report: OnStatus | None = None,
    **options: Unpack[MirrorArguments],
) -> Mirror:
    """Return a mirror, which `run` lets run until `stop` is called. The arguments are those of `mirror`.

    `spark` may be a function, which is called when a range is first large enough for Spark.
    """
    cache.enable()
    _check_session(spark)
    named: dict[str, Any] = dict(options)
    patterns, given = read_tables(tables, named)
    location = path_argument(target, "target", "a directory or a URI")
    kind, catalog = Format(given.pop("format", Format.DELTA)), given.pop("catalog", None)
    settings = make_settings(given)
    merging = _session(spark, "format") if kind is Format.DELTA_MERGE else None
    followed = open_source(source, patterns)
    goal = parse_target(location, kind, catalog, storage, merging)
    runner = None if spark is None else _spark_runner(spark)
    if not given.get("query_progress"):
        return Mirror(followed, goal, patterns, settings, spark_runner=runner, on_report=on_report)
    shown = _query_progress(spark, f"binspark mirror to {hide_credentials(location)[0]}")

    def report(progress: Status) -> None:
        shown.show(progress)
        if on_report is not None:
            on_report(progress)

    mirror = Mirror(followed, goal, patterns, settings, spark_runner=runner, on_report=report)
    mirror.at_end(shown.close)
    return mirror


def read_tables(tables: object, options: Mapping[str, Any]) -> tuple[TablePatterns, dict[str, Any]]:
    """Return which tables are mirrored, and what the other options mean."""
    given = read_options({**options, "tables": tables})
    patterns = TablePatterns(given.pop("tables", frozenset()), given.pop("exclude_tables", frozenset()))
    if not patterns.tables:
        raise OptionError(f"must be names of tables, or patterns such as 'shop.*', got {tables!r}", option="tables")
    return patterns, given


def read_options(given: Mapping[str, Any], surface: Surface = Surface.PYTHON) -> dict[str, Any]:
    """Return what options mean, by their names in Python; those that are None are not given."""
    return {
        name: option.read(value, surface)
        for name, (option, value) in _OPTIONS.find_all(given).items()
        if value is not None
    }


def make_settings(given: Mapping[str, Any]) -> MirrorSettings:
    """Return settings of options that were read."""
    fields = {_FIELDS[name]: value for name, value in given.items() if name in _FIELDS}
    if "snapshot" in given:
        fields["snapshot"] = SnapshotMode(given["snapshot"])
    if "on_drop" in given:
        fields["on_drop"] = DropMode(given["on_drop"])
    policies = {name: given[name] for name in ("zero_dates", "undecodable", "time") if name in given}
    columns: ColumnOptions = replace(MIRROR_COLUMNS, **policies)
    metrics = metrics_settings(given.get("metrics_port"), given.get("metrics_host"))
    return MirrorSettings(columns=columns, metrics=metrics, **fields)


def open_source(source: Source, patterns: TablePatterns, storage: Storage | None = None) -> ChangeSource:
    """Return a source of changes: a server, or logs."""
    if isinstance(source, ConnectionConfig):
        return ServerChanges(source, patterns)
    if isinstance(source, Mapping):
        return ServerChanges(connection_config(**connection_arguments(source)), patterns)
    expected = "a server ({'host': 'db1'}) or logs: a path, or several"
    return ArchiveChanges(path_arguments(source, "source", expected), patterns, storage)


def _check_session(spark: object) -> None:
    """Refuse what is neither a session nor a function that returns one; None means this process."""
    if spark is not None and not callable(spark):
        check_session(spark)


def _query_progress(spark: SparkSession | Callable[[], SparkSession] | None, name: str) -> QueryProgress:
    session = _session(spark, "query_progress")
    from binspark.mirror.query_progress import QueryProgress

    return QueryProgress(session, name)


def _session(spark: SparkSession | Callable[[], SparkSession] | None, option: str) -> SparkSession:
    """Return the session, which an option needs."""
    if spark is None:
        raise OptionError("needs a Spark session (on the command line: --master 'local[*]'), got None", option=option)
    return spark() if callable(spark) else spark


def _spark_runner(spark: SparkSession | Callable[[], SparkSession]) -> Callable[[], Runner]:
    opening = Lock()  # tables are copied by several threads

    @lru_cache(maxsize=1)
    def opened() -> Runner:
        from binspark.mirror.runners.spark import SparkRunner

        return SparkRunner(spark() if callable(spark) else spark)

    def runner() -> Runner:
        with opening:
            return opened()

    return runner
