"""What a script is to contain."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.errors import OptionError
from binspark.options import values
from binspark.options.option import EVERYWHERE, Option, Surface

_NOT_IN_SPARK = EVERYWHERE - {Surface.SPARK}

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

SCRIPT_OPTIONS = (UNDO, SKIP_STATEMENTS, DISABLE_LOG_BIN, KEEP_GTIDS, NO_COMMENTS)


@dataclass(frozen=True, slots=True)
class ScriptOptions:
    """What a script is to contain; the fields are those of `SCRIPT_OPTIONS`."""

    undo: bool = False
    skip_statements: bool = False
    disable_log_bin: bool = False
    keep_gtids: bool = False
    no_comments: bool = False

    def __post_init__(self) -> None:
        if self.undo and self.keep_gtids:
            raise OptionError(
                "cannot be combined with --undo: what undoes a transaction is another transaction", option="keep_gtids"
            )
