"""How a log is dumped."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo
from enum import StrEnum

from binspark.columns.selection import Selection
from binspark.gtid import MariadbGtid
from binspark.options import values


class Base64Output(StrEnum):
    """When events are written as BINLOG statements."""

    AUTO = "auto"
    NEVER = "never"
    DECODE_ROWS = "decode-rows"
    UNSPEC = "unspec"


@dataclass(frozen=True, slots=True, kw_only=True)
class MariadbSettings:
    """What only the dump of MariaDB's logs has; the fields have the names of the options.

    start_gtids, stop_gtids      where to start and stop in each domain, given instead of positions in files
    print_row_count              whether the number of rows of each statement is written; None for unless short_form
    print_row_event_positions    whether the position of each event is written; None for unless short_form
    """

    start_gtids: tuple[MariadbGtid, ...] = ()
    stop_gtids: tuple[MariadbGtid, ...] = ()
    gtid_strict_mode: bool = True
    do_domain_ids: frozenset[int] | None = None
    ignore_domain_ids: frozenset[int] | None = None
    do_server_ids: frozenset[int] | None = None
    ignore_server_ids: frozenset[int] | None = None
    table: str | None = None
    skip_annotate_row_events: bool = False
    print_row_count: bool | None = None
    print_row_event_positions: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpSettings:
    """What is dumped and how; the fields have the names of the options.

    selection   the options that commands share: positions, times, GTIDs, server, tables
    timezone    in which times are written
    """

    selection: Selection = field(default_factory=Selection)
    timezone: tzinfo = field(default_factory=lambda: values.zone("local"))
    verbose: int = 0
    hexdump: bool = False
    base64_output: Base64Output = Base64Output.AUTO
    short_form: bool = False
    print_table_metadata: bool = False
    database: str | None = None
    rewrite_db: tuple[tuple[str, str], ...] = ()
    skip_gtids: bool = False
    offset: int = 0
    idempotent: bool = False
    disable_log_bin: bool = False
    set_charset: str | None = None
    require_row_format: bool = False
    force_read: bool = False
    force_if_open: bool = True
    local_load: str | None = None
    verify_binlog_checksum: bool = False
    mariadb: MariadbSettings = field(default_factory=MariadbSettings)
