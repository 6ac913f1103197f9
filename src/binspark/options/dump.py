"""The options of `dump`, with the names that `mysqlbinlog` and `mariadb-binlog` give them."""

from __future__ import annotations

from collections.abc import Iterable

from binspark.options import values
from binspark.options.option import Option, Surface

_BASE64_OUTPUT = ("auto", "never", "decode-rows", "unspec")
_ARROW = "->"
_MAX_ID = (1 << 32) - 1


def _rewrites(value: str | Iterable[str]) -> tuple[tuple[str, str], ...]:
    texts = [value] if isinstance(value, str) else value
    return tuple(map(_rewrite, texts))


def _rewrite(value: str) -> tuple[str, str]:
    old, arrow, new = value.partition(_ARROW)
    if not arrow or not old.strip() or not new.strip():
        raise values.InvalidValue("OLD->NEW", value)
    return old.strip(), new.strip()


def _option(name: str, **fields: object) -> Option:
    return Option(name=name, surfaces=frozenset({Surface.COMMAND_LINE}), **fields)  # type: ignore[arg-type]


def _ids(value: str | Iterable[str]) -> frozenset[int]:
    return frozenset(map(values.integer_in(0, _MAX_ID), values.names(value)))


VERBOSE = _option(
    "verbose", parse=values.integer_in(0), metavar="", short="-v", default="0",
    help="Write rows as commented SQL, too; -vv with the types of their columns.",
)  # fmt: skip
FORCE_IF_OPEN = _option(
    "force_if_open", parse=values.flag, metavar="", short="-F", default="true",
    help="Read a log that a server is writing, or was when it crashed, and accept that its last event is incomplete.",
)  # fmt: skip

DUMP_OPTIONS = (
    _option(
        "hexdump", parse=values.flag, metavar="", short="-H", default="false",
        help="Write each event as hexadecimal digits and characters, too, in comments.",
    ),
    _option(
        "base64_output", parse=str.lower, choices=_BASE64_OUTPUT, default="auto",
        help="When events are written as BINLOG statements: where it is necessary, never, or never for rows, which are "
        "decoded with -v.",
    ),
    _option(
        "short_form", parse=values.flag, metavar="", short="-s", default="false",
        help="Write only statements, without comments and rows.",
    ),
    _option(
        "print_table_metadata", parse=values.flag, metavar="", default="false",
        help="Write the columns and keys that table maps describe.",
    ),
    _option(
        "database", parse=values.text, metavar="NAME", short="-d", default="all",
        help="Write only changes in this database, and statements that have it as their default database.",
    ),
    _option(
        "rewrite_db", parse=_rewrites, metavar="OLD->NEW", is_list=True, default="none",
        help="Write changes in database OLD as changes in NEW.",
    ),
    _option(
        "skip_gtids", parse=values.flag, metavar="", default="false",
        help="Write no GTIDs: transactions get new ones where they are applied.",
    ),
    _option(
        "offset", parse=values.integer_in(0), metavar="NUMBER", short="-o", default="0",
        help="Skip the first events.",
    ),
    _option(
        "idempotent", parse=values.flag, metavar="", short="-i", default="false",
        help="Let the server that applies the output ignore duplicate and missing rows.",
    ),
    _option(
        "disable_log_bin", parse=values.flag, metavar="", short="-D", default="false",
        help="Let the server that applies the output not write it to its own log.",
    ),
    _option(
        "set_charset", parse=values.text, metavar="NAME", default="none",
        help="Write SET NAMES with this character set first.",
    ),
    _option(
        "require_row_format", parse=values.flag, metavar="", default="false",
        help="Fail at an event that was not logged in row format.",
    ),
    _option(
        "force_read", parse=values.flag, metavar="", short="-f", default="false",
        help="Continue after events of unknown types.",
    ),
    _option(
        "local_load", parse=values.text, metavar="DIR", short="-l", default="the directory for temporary files",
        help="Write the files of LOAD DATA statements to this directory.",
    ),
    _option(
        "verify_binlog_checksum", parse=values.flag, metavar="", short="-c", default="false",
        help="Stop at an event whose checksum does not match.",
    ),
    _option(
        "result_file", parse=values.text, metavar="FILE", short="-r", default="standard output",
        help="Write to this file.",
    ),
)  # fmt: skip

PRINT_ROW_COUNT = _option(
    "print_row_count", parse=values.flag, metavar="", default="true, with --short-form false",
    help="MariaDB: write the number of rows of each statement.",
)  # fmt: skip
PRINT_ROW_EVENT_POSITIONS = _option(
    "print_row_event_positions", parse=values.flag, metavar="", default="true, with --short-form false",
    help="MariaDB: write the position of each event.",
)  # fmt: skip
GTID_STRICT_MODE = _option(
    "gtid_strict_mode", parse=values.flag, metavar="", default="true",
    help="MariaDB: fail at a GTID that is out of order in its domain.",
)  # fmt: skip

MARIADB_OPTIONS = (
    _option(
        "table", parse=values.text, metavar="NAME", short="-T", default="all",
        help="MariaDB: write only rows of tables of this name; statements are not affected.",
    ),
    _option(
        "do_domain_ids", parse=_ids, metavar="NUMBER,…", is_list=True, default="all",
        help="MariaDB: write only transactions of these domains.",
    ),
    _option(
        "ignore_domain_ids", parse=_ids, metavar="NUMBER,…", is_list=True, default="none",
        help="MariaDB: write no transactions of these domains.",
    ),
    _option(
        "do_server_ids", parse=_ids, metavar="NUMBER,…", is_list=True, default="all",
        help="MariaDB: write only events of these servers.",
    ),
    _option(
        "ignore_server_ids", parse=_ids, metavar="NUMBER,…", is_list=True, default="none",
        help="MariaDB: write no events of these servers.",
    ),
    _option(
        "skip_annotate_row_events", parse=values.flag, metavar="", default="false",
        help="MariaDB: do not write the statements that caused rows events.",
    ),
)  # fmt: skip
