"""What a script is to contain."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from binspark.errors import OptionError
from binspark.options import values
from binspark.options.option import EVERYWHERE, Option, Surface

_NOT_IN_SPARK = EVERYWHERE - {Surface.SPARK}


class OnConflict(StrEnum):
    """What an undo does with rows that others have changed since.

    REFUSE     it is refused: an error that lists the rows
    SKIP       their changes are not undone
    MERGE      of an update, the columns are restored that nobody else has changed; other changes are not undone
    OVERWRITE  the old values are restored over the later ones
    """

    REFUSE = "refuse"
    SKIP = "skip"
    MERGE = "merge"
    OVERWRITE = "overwrite"


UNDO = Option(
    name="undo", parse=values.flag, metavar="", default="false", surfaces=_NOT_IN_SPARK,
    help="Write what undoes the changes, the last one first.",
)  # fmt: skip
SKIP_STATEMENTS = Option(
    name="skip_statements", parse=values.flag, metavar="", default="false", surfaces=_NOT_IN_SPARK,
    help="Leave out statements: DDL, and changes that were logged as statements. Without it, they stop --undo.",
)  # fmt: skip
DISABLE_LOG_BIN = Option(
    name="disable_log_bin", parse=values.flag, metavar="", default="false", surfaces=_NOT_IN_SPARK,
    help="Do not log the script on the server that runs it (sql_log_bin = 0).",
)  # fmt: skip
KEEP_GTIDS = Option(
    name="keep_gtids", parse=values.flag, metavar="", default="false", surfaces=_NOT_IN_SPARK,
    help="Give each transaction the GTID that it has in the log, so that a server with it skips it.",
)  # fmt: skip
NO_COMMENTS = Option(
    name="no_comments", parse=values.flag, metavar="", default="false", surfaces=_NOT_IN_SPARK,
    help="Leave out the comments: GTID, position, time, server, thread and statement of the changes.",
)  # fmt: skip
ON_CONFLICT = Option(
    name="on_conflict", parse=values.one_of(OnConflict), metavar="POLICY", choices=tuple(OnConflict),
    default="refuse", surfaces=_NOT_IN_SPARK,
    help="What --undo does with rows that other transactions have changed later: refuse (list them, write no script), "
    "skip (leave them as they are), merge (restore only the columns that nobody has changed later), or overwrite "
    "(restore the old values; the later changes are lost).",
)  # fmt: skip

SCRIPT_OPTIONS = (UNDO, ON_CONFLICT, SKIP_STATEMENTS, DISABLE_LOG_BIN, KEEP_GTIDS, NO_COMMENTS)


@dataclass(frozen=True, slots=True)
class ScriptOptions:
    """What a script is to contain; the fields are those of `SCRIPT_OPTIONS`."""

    undo: bool = False
    on_conflict: OnConflict = OnConflict.REFUSE
    skip_statements: bool = False
    disable_log_bin: bool = False
    keep_gtids: bool = False
    no_comments: bool = False

    @property
    def guarded(self) -> bool:
        """Whether rows are only undone as long as they are as they were left."""
        return self.undo and self.on_conflict is not OnConflict.OVERWRITE

    def __post_init__(self) -> None:
        if self.on_conflict is not OnConflict.REFUSE and not self.undo:
            raise OptionError("is for --undo", option="on_conflict")
        if self.undo and self.keep_gtids:
            raise OptionError(
                "cannot be combined with --undo: what undoes a transaction is another transaction", option="keep_gtids"
            )
