"""A log file into a script, with the rows of most tables written in bulk (`row_texts`).

Transactions that consist of rows alone are found and written many at a time (`rows_transactions`). Everything else goes
through `Script.feed`, event by event.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np

from binspark.event import Event, EventDecoder
from binspark.event.rows import ROWS_KINDS
from binspark.files.read import errors_before_stop
from binspark.files.sources import LogSource
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode as E
from binspark.frames import Frame, Framer, LogFormat
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.kernels.sql.layout import RowsTransaction, WalkStop
from binspark.sql.row_texts import BY_REFERENCE, EventTexts, RowTexts
from binspark.sql.rows_transactions import RowsTransactions, has_usual_layout
from binspark.sql.script import Script
from binspark.sql.session import Settings, settings_of_rows

_PARTIAL = E.PARTIAL_UPDATE_ROWS  # rows with changes of JSON documents, which only the reference writes
_NEED_MAPS = frozenset({E.PARTIAL_ROW_DATA, *ROWS_KINDS})
_WINDOW = 4 << 20
_SIZE, _FLAGS = slice(9, 13), slice(6, 8)
_BEGIN = b"\0BEGIN"
_IN_PAYLOAD = frozenset({E.TABLE_MAP, E.XID, *ROWS_KINDS}) - {_PARTIAL}


def parts_in_bulk(source: LogSource, script: Script, texts: RowTexts) -> Iterator[bytes]:
    """Yield what a log adds to a script."""
    script.begin_log(source.start)
    texts.begin(source)
    framer = Framer()
    stop = math.inf if source.stop is None else source.stop
    with errors_before_stop(source, framer):
        with source.open() as file:
            yield from _Reader(source.name, script, texts, _Window(file), framer, stop).parts()
        texts.finish()


class _Window:
    """The bytes of a log that are in memory: most of them once, a large event or transaction as far as necessary."""

    def __init__(self, file: LogFile) -> None:
        self._file = file
        self._memory = np.empty(_WINDOW, dtype=np.uint8)
        self._end = 0
        self._offset = 0
        self.at = 0

    @property
    def offset(self) -> int:
        """The offset of the next byte in the log."""
        return self._offset + self.at

    @property
    def length(self) -> int:
        """How many bytes are in memory from there on."""
        return self._end - self.at

    @property
    def address(self) -> int:
        """The address of the next byte."""
        return int(self._memory.ctypes.data) + self.at

    @property
    def is_full(self) -> bool:
        """Whether there is no room for more bytes."""
        return self.length == len(self._memory)

    def bytes(self, length: int) -> bytes:
        """Return the next bytes."""
        return self._memory[self.at : self.at + length].tobytes()

    def event_length(self) -> int:
        """Return the length of the next event, with the magic before the first one; 0 if it is not in the log."""
        magic = FIRST_EVENT_OFFSET if self.offset == 0 else 0
        if not self._require(magic + HEADER_LENGTH):
            return 0
        length = magic + int.from_bytes(self.bytes(magic + HEADER_LENGTH)[magic:][_SIZE], "little")
        return length if self._require(length) else 0

    def fill(self) -> bool:
        """Read more; return False at the end of the log."""
        rest = self.length
        self._memory[:rest] = self._memory[self.at : self._end].copy()
        self._offset += self.at
        self.at, self._end = 0, rest
        chunk = self._file.read(len(self._memory) - rest)
        self._memory[rest : rest + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
        self._end += len(chunk)
        return bool(chunk)

    def _require(self, length: int) -> bool:
        while self.length < length:
            if self.is_full:  # memory grows with the bytes that came, whatever the length claims
                self._memory = np.concatenate([self._memory, np.empty_like(self._memory)])
            if not self.fill():
                return False
        return True


class _Reader:
    """Reads one log: transactions of rows in bulk, and the events of the others."""

    def __init__(
        self, file: str, script: Script, texts: RowTexts, window: _Window, framer: Framer, stop: float
    ) -> None:
        self._script, self._texts = script, texts
        self._window, self._framer, self._stop = window, framer, stop
        self._decoder = EventDecoder(file)
        self._maps: list[Frame] = []
        self._transactions = script.rows_transactions(file)
        self._format: LogFormat | None = None
        self._is_usual = False

    def parts(self) -> Iterator[bytes]:
        """Yield what the log adds to the script."""
        window, framer = self._window, self._framer
        while window.offset < self._stop:
            if self._may_be_rows() and (yield from self._rows_transactions()):
                continue
            length = window.event_length() if not framer.encrypted else 0
            if not length:
                break
            yield from self._feed(length)
        while window.offset < self._stop and (window.length or window.fill()):  # what is not an event
            yield from self._feed(window.length)
        if window.offset < self._stop:
            framer.finish()

    def _may_be_rows(self) -> bool:
        """Return whether a transaction of rows may begin here."""
        log_format = self._framer.format
        if log_format is not self._format and log_format is not None:
            self._format, self._is_usual = log_format, has_usual_layout(log_format)
        return self._is_usual and self._script.is_idle and not self._framer.encrypted

    def _rows_transactions(self) -> Generator[bytes, None, bool]:
        """Write the transactions of rows from here on; return whether there may be more of them."""
        window, found = self._window, self._transactions
        assert self._format is not None
        end = window.address + int(min(window.length, self._stop - window.offset))
        stop = found.find(window.address, end, window.offset, self._format)
        if len(found.found):
            yield from self._write(found)
        if stop is WalkStop.MORE:
            return not window.is_full and window.fill()
        return stop is WalkStop.FULL and len(found.found) > 0

    def _write(self, found: RowsTransactions) -> Iterator[bytes]:
        """Write the transactions that were found; those with rows that only the reference writes event by event."""
        texts = self._texts.of_events(found.offsets)
        first = 0
        for number in found.of_events(np.flatnonzero(texts.by_reference)).tolist():
            yield from self._written(found, first, number, texts)
            start, end = found.found[number, [RowsTransaction.START, RowsTransaction.END]].tolist()
            self._window.at += start - self._window.offset
            while self._window.offset < end:
                yield from self._feed(self._window.event_length())
            first = number + 1
        yield from self._written(found, first, len(found.found), texts)
        self._window.at += int(found.found[-1, RowsTransaction.END]) - self._window.offset

    def _written(self, found: RowsTransactions, first: int, last: int, texts: EventTexts) -> Iterator[bytes]:
        for written in found.written(first, last, texts) if first < last else ():
            yield from self._script.add_written(written)

    def _feed(self, length: int) -> Iterator[bytes]:
        """Read the next bytes as frames: one, or whatever is in the rest of the log."""
        window, framer = self._window, self._framer
        if not framer.pending_bytes:
            framer.offset = window.offset
        data = window.bytes(length)
        window.at += length
        for frame in framer.feed(data):
            if frame.offset >= self._stop:
                return
            yield from self._feed_one(frame)

    def _feed_one(self, frame: Frame) -> Iterator[bytes]:
        script, decoder, code = self._script, self._decoder, frame.type_code
        if code == E.TABLE_MAP and script.in_transaction:
            self._maps.append(frame)
            return
        event = decoder.decode(frame)
        is_in_bulk = code in ROWS_KINDS and code != _PARTIAL
        text = self._texts.at(frame.offset) if is_in_bulk else BY_REFERENCE
        if text is not BY_REFERENCE:
            yield from script.feed_rows(event, text)
        else:
            for table_map in self._maps if code in _NEED_MAPS else ():
                yield from script.feed(decoder.decode(table_map))
            yield from script.feed(event)
            if code == E.TRANSACTION_PAYLOAD:
                yield from self._feed_payload(event)
        if code not in _NEED_MAPS or getattr(event.body, "ends_statement", False):
            self._maps.clear()

    def _feed_payload(self, payload: Event) -> Iterator[bytes]:
        """Take what is inside a payload: its rows together, if it consists of rows alone, else event by event."""
        script, text = self._script, self._texts.at(payload.offset)
        decoder = EventDecoder(payload.file)
        events = None if text is BY_REFERENCE else _rows_payload(decoder.inner_frames(payload))
        if events is None or text is BY_REFERENCE:
            for inner in decoder.inner_events(payload):
                yield from script.feed(inner)
            return
        begin, rows, end = map(decoder.decode, events)
        yield from script.feed(begin)
        yield from script.feed_rows(rows, text)
        yield from script.feed(end)


def _rows_payload(frames: Iterator[Frame]) -> tuple[Frame, Frame, Frame] | None:
    """Return the first, a rows and the last event of a payload; None if it is not rows alone, with equal settings."""
    begin, rows, end = None, None, None
    for frame in frames:
        code = frame.type_code
        if begin is None and code == E.QUERY and frame.data.endswith(_BEGIN):
            begin = frame
        elif begin is None or end is not None or code not in _IN_PAYLOAD:
            return None
        elif code == E.XID:
            end = frame
        elif code != E.TABLE_MAP:
            if rows is not None and _settings_of(rows) != _settings_of(frame):
                return None
            rows = frame
    return None if begin is None or rows is None or end is None else (begin, rows, end)


def _settings_of(rows: Frame) -> Settings:
    return settings_of_rows(int.from_bytes(rows.body[_FLAGS], "little"))
