"""`binspark gtid missing`: which GTIDs one side has and the other lacks."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from binspark.cli.output import counted
from binspark.cli.server_options import Account
from binspark.diff.gtid_inputs import gtids_of_logs, gtids_of_server, gtids_of_text, is_gtid_text
from binspark.diff.gtids import HeldGtids, MariadbGtids, MissingGtids, MysqlGtids, missing_from
from binspark.errors import Malformed, OptionError
from binspark.files.sources import expect_logs, find_logs
from binspark.gtid import GtidSet, MariadbState
from binspark.server.url import is_server_url

if TYPE_CHECKING:
    from binspark.server.connection import Connection

_NO_GTIDS = MysqlGtids(GtidSet())


@dataclass(frozen=True, slots=True)
class ComparedSides:
    """What two sides do not share.

    missing   GTIDs of the first side that the second lacks
    errant    GTIDs of the second side that the first lacks
    """

    missing: MissingGtids
    errant: MissingGtids
    at_most: bool

    @property
    def record(self) -> dict[str, Any]:
        """The record that `--format jsonl` prints."""
        return {
            "missing": self.missing.text,
            "missing_count": self.missing.count,
            "purged": self.missing.purged,
            "errant": self.errant.text,
            "errant_count": self.errant.count,
        }


def compare_sides(source: str, target: str, account: Account) -> ComparedSides:
    """Ask both sides for their GTIDs.

    Servers go on while they are asked. So the target is asked before the source for what the source lacks, and once
    more after it for what the target lacks: a transaction that is committed meanwhile is neither.
    """
    with ExitStack() as open_connections:
        first, second = _Side(source, "--from", account), _Side(target, "--to", account)
        for side in (first, second):
            if side.connection is not None:
                open_connections.enter_context(side.connection)
        before = second.gtids()
        known, after = _of_one_family(first.gtids(), second.gtids() if second.connection is not None else before)
        _, before = _of_one_family(known, before)
        missing, errant = missing_from(after, known), missing_from(known, before)
    return ComparedSides(missing, errant, isinstance(known, MariadbGtids))


def missing_text(found: ComparedSides) -> str:
    """Return what two sides do not share as text for people."""
    lines = []
    for name, gtids in (("missing", found.missing), ("errant", found.errant)):
        if gtids:
            many = f"up to {counted(gtids.count, 'transaction')}" if found.at_most else None
            lines.append(f"{name:<8} {many or counted(gtids.count, 'transaction')}: {gtids.text}")
    if found.missing.purged:
        lines.append(f"purged   no longer in the logs of --from: {found.missing.purged}")
    return "\n".join(lines) or "nothing is missing: both sides have the same GTIDs"


class _Side:
    """One side: a server that is connected, or GTIDs of logs or a text."""

    def __init__(self, text: str, option: str, account: Account) -> None:
        self._text, self._option = text, option
        self.connection: Connection | None = None
        if is_server_url(text):
            from binspark.server.connection import connect

            try:
                config = account.connection(text)
            except OptionError as error:
                raise error if error.option else OptionError(error.message, option=option) from None
            self.connection = connect(config)

    def gtids(self) -> HeldGtids:
        """Return the GTIDs of the side."""
        if self.connection is not None:
            found = gtids_of_server(self.connection)
            if isinstance(found, MysqlGtids) and not found.executed:
                from binspark.server.info import server_info

                if not server_info(self.connection).gtids_enabled:
                    message = f"{self.connection.address} has no GTIDs: gtid_mode is OFF; use binspark diff instead"
                    raise OptionError(message, option=self._option)
            return found
        if not is_gtid_text(self._text):
            logs = find_logs([self._text])
            expect_logs(logs)
            return gtids_of_logs(logs)
        try:
            return gtids_of_text(self._text)
        except Malformed as error:
            raise OptionError(error.message, option=self._option) from None


def _of_one_family(known: HeldGtids, other: HeldGtids) -> tuple[HeldGtids, HeldGtids]:
    """Return both sides; one without any GTID as of the family of the other."""
    if isinstance(known, MariadbGtids) and other == _NO_GTIDS:
        return known, MariadbGtids(MariadbState())
    if isinstance(other, MariadbGtids) and known == _NO_GTIDS:
        return MariadbGtids(MariadbState()), other
    return known, other
