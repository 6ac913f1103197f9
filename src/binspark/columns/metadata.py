"""The metadata columns: what a row is and where it comes from. Without Arrow, which help texts need not load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from binspark.errors import OptionError

DEFAULT_PREFIX = "_"


class Metadata(StrEnum):
    """The metadata columns in their order, without the prefix of their names.

    OP           what was done: `insert`, `update`, `delete`, or `truncate` for all rows of the table
    SEQ          orders all rows of a stream, or of the logs of one server: see `columns.sequence`
    KEY          the primary key before the change; a batch of a table without a key does not have it
    GTID         the GTID of the transaction
    COMMIT_TIME  when it was committed
    LOG_FILE     the log file, and
    LOG_POS      the position of the event in it
    LOG_ROW      the number of the row in its event
    TX_ROW       the number of the row in its transaction
    SERVER_ID    the server on which the change was made
    ABSENT       the columns that the row image does not contain; only if it is selected
    """

    OP = "op"
    SEQ = "seq"
    KEY = "key"
    GTID = "gtid"
    COMMIT_TIME = "commit_time"
    LOG_FILE = "log_file"
    LOG_POS = "log_pos"
    LOG_ROW = "log_row"
    TX_ROW = "tx_row"
    SERVER_ID = "server_id"
    ABSENT = "absent"


BEFORE = "before"
"""The name, without its prefix, of the struct with the old row, which is the last column if it is selected."""

ALWAYS = tuple(name for name in Metadata if name is not Metadata.ABSENT)
"""The metadata columns that are there if nothing else is selected."""


def metadata_names(prefix: str, names: Iterable[Metadata] = ALWAYS) -> dict[str, Metadata]:
    """Return metadata columns by their names with a prefix."""
    return {f"{prefix}{name}": name for name in names}


def refuse_collisions(names: Sequence[str], table: str, option: str) -> None:
    """Refuse columns whose names differ only in case: engines take them for the same.

    MySQL does so, too. So one of them is a metadata column, which `option` can give another name.
    """
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            message = f"must be another prefix, such as binlog_: {table} has a column {name!r}"
            raise OptionError(f"{message}, and there is a metadata column of this name", option=option)
        seen.add(name.lower())
