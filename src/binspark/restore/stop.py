"""Where a recovery stops: at a transaction, a time, a position, or before a statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import translate

from binspark.errors import BinlogError, OptionError, Truncated
from binspark.event import AnnotateRows, Event, EventDecoder, Query, RowsQuery
from binspark.files.read import read_frames
from binspark.files.sources import LogSource
from binspark.frames import EventCode as E
from binspark.frames import Frame
from binspark.gtid import Gtid, MariadbGtid

AnyGtid = Gtid | MariadbGtid
_STATEMENTS = frozenset({E.QUERY, E.QUERY_COMPRESSED, E.ROWS_QUERY, E.ANNOTATE_ROWS, E.EXECUTE_LOAD_QUERY})
_SPACE = re.compile(r"\s+")
_MAX_STATEMENT = 1 << 16


@dataclass(frozen=True, slots=True)
class StopAt:
    """Where to stop, besides what the options for times and positions say.

    before_gtid       before this transaction
    after_gtid        after this transaction
    before_statement  before the transaction with the first statement that contains this text; * stands for any text
    """

    before_gtid: str | None = None
    after_gtid: str | None = None
    before_statement: str | None = None


@dataclass(frozen=True, slots=True)
class FoundStatement:
    """A statement that was looked for: its file, the offset of its event, and its text."""

    file: str
    offset: int
    text: str


def parse_gtid(text: str, option: str) -> str:
    """Return a GTID in its normal form."""
    try:
        return str(Gtid.parse(text) if ":" in text else MariadbGtid.parse(text))
    except BinlogError:
        message = f"must be one GTID, such as 3e11fa47-…:42 or 0-1-42, got {text!r}"
        raise OptionError(message, option=option) from None


def find_statement(sources: Iterable[LogSource], pattern: str) -> FoundStatement | None:
    """Return the first statement that contains a text, in any case and with any space between words."""
    wanted = re.compile(translate(f"*{_SPACE.sub(' ', pattern.strip().lower())}*"))
    for source in sources:
        decoder = EventDecoder(source.name)
        for frame in _complete_frames(source):
            if frame.offset < source.start:
                continue
            if frame.type_code in _STATEMENTS:
                found = _matched(decoder.decode(frame), wanted)
                if found is not None:
                    return found
            elif frame.type_code == E.TRANSACTION_PAYLOAD:
                for event in decoder.inner_events(decoder.decode(frame)):
                    found = _matched(event, wanted)
                    if found is not None:
                        return found
    return None


def _complete_frames(source: LogSource) -> Iterator[Frame]:
    """Yield the frames of a log up to where it is cut off."""
    with suppress(Truncated):
        yield from read_frames(source)


def _matched(event: Event, wanted: re.Pattern[str]) -> FoundStatement | None:
    body = event.body
    if not isinstance(body, Query | RowsQuery | AnnotateRows):
        return None
    text = _SPACE.sub(" ", bytes(body.query)[:_MAX_STATEMENT].decode(errors="backslashreplace").strip())
    return FoundStatement(event.file, event.offset, text) if wanted.fullmatch(text.lower()) else None
