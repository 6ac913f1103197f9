"""A log file into a script, with the rows of most tables written in bulk (`row_texts`).

Most transactions are a GTID, BEGIN, table maps, rows and an XID: of those only the GTID is decoded. Everything else
goes through `Script.feed`, event by event.
"""

from __future__ import annotations

from collections.abc import Iterator

from binspark.event import EventDecoder
from binspark.event.rows import ROWS_KINDS
from binspark.event.rows_query import shown_statement
from binspark.files.read import read_frames
from binspark.files.sources import LogSource
from binspark.frames import EventCode as E
from binspark.frames import Frame
from binspark.position import Position
from binspark.sql.row_texts import BY_REFERENCE, RowTexts
from binspark.sql.script import Script
from binspark.sql.transactions import RowsPart, ScriptTransaction
from binspark.transactions.grammar import ROWS_ENDS_STATEMENT
from binspark.transactions.transaction import commit_of

_GTIDS = frozenset({E.GTID, E.ANONYMOUS_GTID, E.GTID_TAGGED})
_STATEMENTS = frozenset({E.ROWS_QUERY, E.ANNOTATE_ROWS})
_PARTIAL = E.PARTIAL_UPDATE_ROWS  # rows with changes of JSON documents, which only the reference writes
_PLAIN = frozenset({E.TABLE_MAP, *_STATEMENTS, *ROWS_KINDS}) - {_PARTIAL}
_NEED_MAPS = frozenset({E.PARTIAL_ROW_DATA, *ROWS_KINDS})
_BEGIN = b"\0BEGIN"
_THREAD = slice(0, 4)
_FLAGS = slice(6, 8)
_SHORT_ROWS_HEADER = 6
_UP_TO_BEGIN = 2
_MAX_FRAMES = 512
_MAX_BYTES = 8 << 20


def parts_in_bulk(source: LogSource, script: Script, texts: RowTexts) -> Iterator[bytes]:
    """Yield what a log adds to a script."""
    script.begin_log(source.start)
    texts.begin(source)
    reader = _Reader(source.name, script, texts)
    for frame in read_frames(source):
        yield from reader.feed(frame)
    yield from reader.feed_held()


class _Reader:
    """Holds the frames of a transaction back until it is known to be a plain one."""

    def __init__(self, file: str, script: Script, texts: RowTexts) -> None:
        self._file, self._script, self._texts = file, script, texts
        self._decoder = EventDecoder(file)
        self._held: list[Frame] = []
        self._held_bytes = 0
        self._maps: list[Frame] = []

    def feed(self, frame: Frame) -> Iterator[bytes]:
        """Take a frame, and yield the parts of the script that are complete."""
        if self._held:
            self._held.append(frame)
            self._held_bytes += len(frame.data)
            if frame.type_code == E.XID and len(self._held) > 1:
                return self._feed_transaction()
            return iter(()) if self._may_be_plain(frame) else self.feed_held()
        if frame.type_code in _GTIDS and not self._script.in_transaction and frame.format.is_v4:
            self._held.append(frame)
            self._held_bytes = len(frame.data)
            return iter(())
        return self._feed_one(frame)

    def feed_held(self) -> Iterator[bytes]:
        """Give what is held back to the script, event by event."""
        held, self._held = self._held, []
        for frame in held:
            yield from self._feed_one(frame)

    def _may_be_plain(self, frame: Frame) -> bool:
        if len(self._held) > _MAX_FRAMES or self._held_bytes > _MAX_BYTES:
            return False
        if len(self._held) == _UP_TO_BEGIN:
            return frame.type_code == E.QUERY and frame.data.endswith(_BEGIN, 0, frame.body_end)
        return frame.type_code in _PLAIN

    def _feed_transaction(self) -> Iterator[bytes]:
        """Add a complete plain transaction; event by event if some of its rows cannot be written in bulk."""
        first, begin = self._held[:_UP_TO_BEGIN]
        parts: list[RowsPart] = []
        statement: str | None = None
        for frame in self._held[_UP_TO_BEGIN:-1]:
            if frame.type_code in _STATEMENTS:
                statement = shown_statement(self._decoder.decode(frame).body.query)
            elif frame.type_code != E.TABLE_MAP:
                text = self._texts.at(frame.offset)
                if text is BY_REFERENCE or _has_short_header(frame):
                    return self.feed_held()
                flags = int.from_bytes(frame.body[_FLAGS], "little")
                if text:
                    parts.append(RowsPart(text, flags, statement))
                statement = None if flags & ROWS_ENDS_STATEMENT else statement
        self._held = []
        if not parts:
            return iter(())
        event = self._decoder.decode(first)
        start, header = Position(self._file, first.offset), first.header
        transaction = ScriptTransaction(start, header.timestamp, header.server_id, commit_of(event).gtid)
        transaction.thread_id = int.from_bytes(begin.body[_THREAD], "little")
        return self._script.add_transaction(transaction, parts)

    def _feed_one(self, frame: Frame) -> Iterator[bytes]:
        script, decoder, code = self._script, self._decoder, frame.type_code
        if code == E.TABLE_MAP and script.in_transaction:
            self._maps.append(frame)
            return
        event = decoder.decode(frame)
        text = self._texts.at(frame.offset) if code in ROWS_KINDS and code != _PARTIAL else BY_REFERENCE
        if text is not BY_REFERENCE:
            yield from script.feed_rows(event, text)
        else:
            for table_map in self._maps if code in _NEED_MAPS else ():
                yield from script.feed(decoder.decode(table_map))
            yield from script.feed(event)
            for inner in decoder.inner_events(event) if code == E.TRANSACTION_PAYLOAD else ():
                yield from script.feed(inner)
        if code not in _NEED_MAPS or getattr(event.body, "ends_statement", False):
            self._maps.clear()


def _has_short_header(frame: Frame) -> bool:
    """Return whether a rows event has a table id of four bytes, as in the first versions of 5.1."""
    lengths = frame.format.post_header_lengths
    return frame.type_code <= len(lengths) and lengths[frame.type_code - 1] == _SHORT_ROWS_HEADER
