"""The options of a mirror."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypedDict

from binspark.options import values
from binspark.options.option import Option, Surface

_NOT_IN_SPARK = frozenset({Surface.COMMAND_LINE, Surface.PYTHON})
_FORMATS = ("delta", "delta-merge", "iceberg")
_SNAPSHOTS = ("initial", "never")
_DROPS = ("keep", "drop")


def _choice(choices: tuple[str, ...]) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if str(value).lower() not in choices:
            raise values.InvalidValue(values.listed(choices), value)
        return str(value).lower()

    return parse


def _table_names(value: str | Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(map(values.table, values.tables(value))))


class MirrorOption(Option):
    """An option of a mirror alone."""

    __slots__ = ()


def _option(name: str, **fields: object) -> MirrorOption:
    return MirrorOption(name=name, surfaces=_NOT_IN_SPARK, **fields)  # type: ignore[arg-type]


MIRROR_OPTIONS = (
    _option(
        "format", parse=_choice(_FORMATS), choices=_FORMATS, default="delta",
        help="The format of the target's tables; delta-merge is Delta with changes merged by its jar, in Spark 4.2.",
    ),
    _option(
        "catalog", parse=values.text, metavar="NAME|URI", default="a SQLite file in the target",
        help="The catalog of Iceberg tables: one of pyiceberg's configuration, or its properties as NAME=VALUE, …",
    ),
    _option(
        "once", parse=values.flag, metavar="", default="false; in Python true",
        help="End when everything is applied that the source had when the mirror was started.",
    ),
    _option(
        "apply_every", parse=values.time_span, metavar="TIME", default="30s",
        help="How often changes are committed to the tables.",
    ),
    _option(
        "apply_bytes", parse=values.size, metavar="SIZE", default="256m",
        help="About how much of the log is applied at a time; a larger transaction is not divided.",
    ),
    _option(
        "local_bytes", parse=values.size, metavar="SIZE", default="64m",
        help="Up to this size of the log, or of a table that is copied, a mirror with Spark works in its own process.",
    ),
    MirrorOption(
        name="master", parse=values.text, metavar="URL", default="none: the process of the mirror does all work",
        surfaces=frozenset({Surface.COMMAND_LINE}),
        help="The Spark that copies large tables and applies large ranges of the log: spark://…, yarn, k8s://… or "
        "local[*]; of spark-submit, its own. Without one, no Spark is started.",
    ),
    _option(
        "snapshot", parse=_choice(_SNAPSHOTS), choices=_SNAPSHOTS, default="initial",
        help="Whether the rows are copied that tables have when they are first mirrored. Without that, the log must "
        "begin with the tables.",
    ),
    _option(
        "from_dump", parse=values.text, metavar="FILE|DIR", default="none",
        help="Take the rows of tables from a dump, and the log from its position on: mysqldump or mariadb-dump with "
        "--single-transaction and --source-data=2, or mydumper.",
    ),
    _option(
        "resnapshot", parse=_table_names, metavar="TABLE", is_list=True, default="none",
        help="Copy these tables again, whatever their mirrors contain.",
    ),
    _option(
        "rows_per_chunk", parse=values.positive, metavar="NUMBER", default="250000",
        help="How many rows of a table are copied at a time.",
    ),
    _option(
        "mirror_id", parse=values.text, metavar="NAME", default="that of the source",
        help="The name of the mirror, which its tables contain: a mirror of another name does not write them. By "
        "default the UUID of the server, or the directory of the logs, that the mirror began with.",
    ),
    _option(
        "on_drop", parse=_choice(_DROPS), choices=_DROPS, default="keep",
        help="What becomes of the mirror of a table that the source drops.",
    ),
    _option(
        "history", parse=values.flag, metavar="", default="false",
        help="Keep all changes, too, in the append-only table binspark_history.changes: operation, order, the row "
        "before and after.",
    ),
    _option(
        "scd2", parse=values.flag, metavar="", default="false",
        help="Keep all versions of rows, too, with the time from which and up to which each was valid: those of a "
        "table in a table of its name with __scd2 at the end.",
    ),
    _option(
        "accept_foreign", parse=values.flag, metavar="", default="false",
        help="Continue with tables in which other programs have changed rows.",
    ),
    _option(
        "clean_up_every", parse=values.time_span, metavar="TIME", default="1h",
        help="How often old versions of tables are removed, with their files; 0 for never. With --once, the first "
        "run of each such interval removes them.",
    ),
    MirrorOption(
        name="query_progress", parse=values.flag, metavar="", default="false", surfaces=frozenset({Surface.PYTHON}),
        help="Show the progress of the mirror as that of a streaming query of Spark, too.",
    ),
    _option(
        "keep_versions", parse=values.time_span, metavar="TIME", default="7d",
        help="How old a version must be to be removed.",
    ),
)  # fmt: skip


CHECK_OPTIONS = (
    _option(
        "repair", parse=values.flag, metavar="", default="false",
        help="Read rows that differ again from the server, and put them into the mirror; with --once, copy tables "
        "without a key again.",
    ),
    _option(
        "exact", parse=values.flag, metavar="", default="false",
        help="Compare at one position, for which each table is locked for milliseconds.",
    ),
    _option(
        "check_seconds", parse=values.time_span, metavar="TIME", default="60s",
        help="How long to wait for the mirror to reach the server where they differ.",
    ),
)  # fmt: skip


class MirrorArguments(TypedDict, total=False):
    """The options of a mirror as keyword arguments; see `MIRROR_OPTIONS` for what they mean. None is not given."""

    format: str | None
    catalog: str | None
    once: bool
    start: str | None
    apply_every: float | str | None
    apply_bytes: int | str | None
    local_bytes: int | str | None
    snapshot: str | None
    from_dump: str | None
    resnapshot: str | Iterable[str] | None
    rows_per_chunk: int | None
    mirror_id: str | None
    on_drop: str | None
    history: bool
    scd2: bool
    accept_foreign: bool
    clean_up_every: float | str | None
    keep_versions: float | str | None
    query_progress: bool
    metrics_port: int | None
    metrics_host: str | None
    exclude_tables: str | Iterable[str] | None
    zero_dates: str | None
    undecodable: str | None
    time: str | None


class CheckArguments(TypedDict, total=False):
    """The options of a check as keyword arguments; see `CHECK_OPTIONS` for what they mean. None is not given."""

    repair: bool
    exact: bool
    check_seconds: float | str | None
    format: str | None
    catalog: str | None
    exclude_tables: str | Iterable[str] | None
    zero_dates: str | None
    undecodable: str | None
    time: str | None
