"""Prints most events of a log by a kernel, and leaves the others to Python, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from binspark.dump.mysql.arrays import PADDING, address_of, padded_array, room_of
from binspark.dump.mysql.fast_payloads import InnerEvents, without_checksum
from binspark.dump.mysql.fast_tables import KnownTables
from binspark.dump.mysql.frames import as_outside, inner_frames
from binspark.dump.mysql.page import Page
from binspark.dump.mysql.progress import Progress
from binspark.dump.mysql.session import Session
from binspark.errors import DecodeError
from binspark.event import Event, Query, Rows, TableMap
from binspark.event.column_types import ColumnType
from binspark.event.status_vars import StatusCode
from binspark.files.storage.store import LogFile
from binspark.frames import Frame, Framer, HeaderFlag
from binspark.frames.payload import inside_payload
from binspark.frames.payload import without_checksum as format_without_checksum
from binspark.kernels.mysqlbinlog.events import print_events
from binspark.kernels.mysqlbinlog.layout import (
    CLOCK_FIELDS,
    CLOCK_SLOTS,
    KEY_FIELDS,
    MAPPED_TABLES,
    STATE_FIELDS,
    State,
    Status,
)
from binspark.kernels.mysqlbinlog.texts import TEXTS, Text
from binspark.kernels.text_writers import text_writer_address

_INPUT_BYTES = 1 << 22
_OUTPUT_BYTES = 1 << 22
_BODY_BYTES = 1 << 22
_FOOTER_BYTES = 1 << 23
_NEVER = 1 << 62
_MAX_KEYS = 4
_MAX_KEY_BYTES = 4096
_MAX_ATTEMPTS = 4
_LONG_TEXT = 32
_TIME_BYTES = 64
_SIZE = slice(9, 13)
_HEADER = 19
_THREAD_AND_TIME = 8
_OF_INPUT = [State.CONSUMED, State.POSITION, State.EVENTS, State.STOP, State.OUTER_END]
"""What is different for the events of a compressed transaction."""
_ONLY_IN_SOME = frozenset(
    {
        StatusCode.EXPLICIT_DEFAULTS_FOR_TIMESTAMP,
        StatusCode.DDL_LOGGED_WITH_XID,
        StatusCode.SQL_REQUIRE_PRIMARY_KEY,
        StatusCode.DEFAULT_TABLE_ENCRYPTION,
    }
)
"""Status variables that are printed with each statement that has them."""


class FastPrinter:
    """Prints the events of one log. While Python prints an event, the page has what the kernel has collected."""

    def __init__(self, page: Page, progress: Progress, stop: int | None, stop_time: int | None) -> None:
        self._page = page
        self._progress = progress
        self._state = np.zeros(STATE_FIELDS, np.int64)
        self._input = padded_array(_INPUT_BYTES)
        self._output = padded_array(_OUTPUT_BYTES)
        self._body = padded_array(_BODY_BYTES)
        self._footer = padded_array(_FOOTER_BYTES)
        self._inner = InnerEvents()
        self._tables = KnownTables(with_types=page.settings.verbose > 1)
        self._mapped = np.zeros(2 * MAPPED_TABLES, np.int64)
        self._keys = np.zeros(KEY_FIELDS * _MAX_KEYS, np.int64)
        self._key_bytes = np.zeros((_MAX_KEYS, _MAX_KEY_BYTES), np.uint8)
        self._session: Session | None = None
        self._clock = np.full(CLOCK_FIELDS * CLOCK_SLOTS, -1, np.int64)
        self._clock_texts = np.zeros((CLOCK_SLOTS, _TIME_BYTES), np.uint8)
        self._zone = b""
        self._attempts = (-1, 0)
        self._texts = np.zeros(2 * len(TEXTS), np.int64)
        self._text_bytes = [np.frombuffer(TEXTS[text] + bytes(PADDING), np.uint8) for text in Text]
        for text in Text:
            self._set_text(text, TEXTS[text])
        state = self._state
        state[State.STOP] = _NEVER if stop is None else stop
        state[State.STOP_TIME] = _NEVER if stop_time is None else stop_time
        state[State.OUTER_END] = -1
        state[State.VERBOSE] = page.settings.verbose
        state[State.WITH_BASE64] = not page.decodes_only
        if page.settings.verbose:
            state[State.JSON_WRITER] = text_writer_address(ColumnType.JSON)

    def frames(self, file: LogFile, framer: Framer) -> Iterator[Frame]:
        """Print events from the position of a framer on; yield those that Python must print and pass to `note`."""
        assert framer.format is not None
        state = self._state
        state[State.CHECKSUM] = framer.format.checksum_length
        state[State.POSITION], state[State.CONSUMED] = framer.offset, 0
        length = 0
        self._take_from_page()
        while True:
            for data in self._print(self._input, length):
                framer.offset = int(state[State.POSITION] + state[State.CONSUMED])
                yield from framer.feed(data)
            consumed = int(state[State.CONSUMED])
            rest = length - consumed
            self._input[:rest] = self._input[consumed:length].copy()
            state[State.POSITION] += consumed
            state[State.CONSUMED] = 0
            length = rest + self._fill(file, rest)
            if length == rest:
                break
        framer.offset = int(state[State.POSITION])
        self._move_to_page()
        yield from framer.feed(self._input[:length].tobytes())
        framer.finish()

    def inner_frames(self, event: Event) -> Iterator[Frame]:
        """Print the events of a compressed transaction; yield those that Python must print and pass to `note`."""
        outer, state = event.frame, self._state
        if state[State.OUTER_END] >= 0:  # a payload in a payload, which no server writes
            yield from inner_frames(event)
            return
        saved = state[_OF_INPUT]
        state[_OF_INPUT] = (0, 0, 0, _NEVER, outer.header.next_position)
        self._attempts = (-1, 0)
        self._take_from_page()
        framer = Framer(format_without_checksum(outer.format))
        try:
            for array, length in self._inner.chunks(event):
                state[State.CONSUMED] = 0
                for data in self._print(array, length):
                    plain = without_checksum(data) if outer.format.checksum_length else data
                    for frame in framer.feed(plain):
                        yield as_outside(frame._replace(inner=int(state[State.EVENTS])), outer)
                state[State.POSITION] += length
            for frame in framer.feed(self._inner.rest):
                yield as_outside(frame, outer)
            framer.finish()
            self._move_to_page()
        except DecodeError as error:
            self._move_to_page()
            raise inside_payload(error, int(state[State.EVENTS]), outer) from None
        finally:
            state[_OF_INPUT] = saved

    def _print(self, array: np.ndarray, length: int) -> Iterator[bytes]:
        """Print the complete events in an array; yield those that Python must print."""
        state = self._state
        while (status := self._run(array, length)) != Status.INPUT:
            if status == Status.EVENT or (status == Status.TIME and not self._set_time()):
                consumed = int(state[State.CONSUMED])
                data = _event(array, consumed, length)
                self._move_to_page()
                yield data
                self._take_from_page()
                state[State.CONSUMED] = consumed + len(data)
                state[State.EVENTS] += 1
            elif status != Status.TIME:
                self._make_room(Status(status))

    def note(self, event: Event) -> None:
        """Take an event that Python has printed: what it sets is in force for the following ones."""
        body = event.body
        if isinstance(body, Query):
            self._note_query(event)
        elif isinstance(body, TableMap) and self._page.settings.verbose:
            index, count = self._tables.add(event), int(self._state[State.MAPPED])
            if index >= 0 and count < MAPPED_TABLES:
                self._mapped[2 * count : 2 * count + 2] = body.table_id, index
                self._state[State.MAPPED] = count + 1
        elif isinstance(body, Rows) and body.ends_statement:
            self._state[State.MAPPED] = 0

    def _run(self, array: np.ndarray, length: int) -> int:
        arrays = (self._texts, self._clock, self._keys, self._tables.numbers, self._mapped, self._state)
        rooms = [
            word for room in (self._output, self._body, self._footer) for word in (address_of(room), room_of(room))
        ]
        self._state[State.TABLE_COUNT] = len(self._tables.maps)
        status: int = print_events(address_of(array), length, *rooms, *map(address_of, arrays))
        return status

    def _fill(self, file: LogFile, start: int) -> int:
        """Read more bytes after `start`; return how many."""
        needed = int(self._state[State.NEEDED])
        if needed > room_of(self._input):
            grown = padded_array(needed)
            grown[:start] = self._input[:start]
            self._input = grown
        self._state[State.NEEDED] = 0
        return file.readinto(self._input.data[start : room_of(self._input)]) or 0

    def _make_room(self, status: Status) -> None:
        """Write what was collected; with a larger array where one event does not fit."""
        needed = int(self._state[State.NEEDED])
        if status == Status.OUTPUT:
            self._write_output()
            if self._state[State.BODY] + self._state[State.FOOTER] > room_of(self._output) // 2:
                self._move_to_page()
                self._take_from_page()
            return
        is_empty = self._state[State.FOOTER] == 0
        self._move_to_page()
        if status == Status.FLUSH:
            self._page.flush()
        elif status == Status.BODY and needed > room_of(self._body):
            self._body = padded_array(needed)
        elif status == Status.FOOTER and is_empty:
            self._footer = padded_array(2 * room_of(self._footer))
        self._take_from_page()

    def _write_output(self) -> None:
        self._page.output.write(self._output[: self._state[State.OUTPUT]].tobytes())
        self._state[State.OUTPUT] = 0

    def _move_to_page(self) -> None:
        state, page, progress = self._state, self._page, self._progress
        self._write_output()
        for buffer, array, field in ((page.body, self._body, State.BODY), (page.footer, self._footer, State.FOOTER)):
            if state[field]:
                buffer.write(array[: state[field]].tobytes())
                state[field] = 0
        page.server_version = int(state[State.SERVER_VERSION]) if state[State.SERVER_VERSION] >= 0 else None
        progress.in_transaction = bool(state[State.IN_TRANSACTION])
        progress.seen_gtid = bool(state[State.SEEN_GTID])
        progress.unfinished_statement = bool(state[State.UNFINISHED])
        for number in range(state[State.MAPPED]):
            table_id, index = self._mapped[2 * number : 2 * number + 2]
            page.table_maps[int(table_id)] = self._tables.maps[index]

    def _take_from_page(self) -> None:
        state, page, progress = self._state, self._page, self._progress
        state[State.SERVER_VERSION] = -1 if page.server_version is None else page.server_version
        state[State.IN_TRANSACTION] = progress.in_transaction
        state[State.SEEN_GTID] = progress.seen_gtid
        state[State.UNFINISHED] = progress.unfinished_statement
        state[State.HAS_BODY] = bool(page.body)
        state[State.IS_CARRIED] = bool(page.body) or bool(page.footer)

    def _set_time(self) -> bool:
        """Set the texts of a second that the kernel asks for; return False if that does not help it."""
        position = int(self._state[State.POSITION] + self._state[State.CONSUMED])
        count = self._attempts[1] + 1 if self._attempts[0] == position else 1
        self._attempts = (position, count)
        if count > _MAX_ATTEMPTS:
            return False
        second = int(self._state[State.SECOND])
        long, zone = self._page.clock.long(second)
        if zone != self._zone:  # the names of all texts that are known are others
            self._zone = zone
            self._clock[:] = -1
            self._set_text(Text.ZONE, b" " + zone)
        slot = second % CLOCK_SLOTS
        texts = self._clock_texts[slot]
        for start, text in ((0, self._page.clock.short(second)), (_LONG_TEXT, long)):
            texts[start : start + len(text)] = np.frombuffer(text, np.uint8)
        address = address_of(texts)
        self._clock[CLOCK_FIELDS * slot : CLOCK_FIELDS * (slot + 1)] = second, address, address + _LONG_TEXT
        return True

    def _set_text(self, text: Text, content: bytes) -> None:
        self._text_bytes[text] = np.frombuffer(content + bytes(PADDING), np.uint8)
        self._texts[2 * text : 2 * text + 2] = address_of(self._text_bytes[text]), len(content)

    def _note_query(self, event: Event) -> None:
        """Remember a BEGIN that leaves the session as it is: the kernel prints others like it."""
        query: Query = event.body
        session = replace(self._page.session, database=b"", thread_id=0)
        state = self._state
        if session != self._session:
            self._session = session
            state[State.KEY_COUNT] = 0
        raw = event.frame.data[event.frame.body_start + _THREAD_AND_TIME : event.frame.body_end]
        is_plain = (
            query.query == b"BEGIN"
            and query.error_code == 0
            and event.header.flags & HeaderFlag.SUPPRESS_USE
            and not event.header.flags & HeaderFlag.THREAD_SPECIFIC
            and len(raw) <= _MAX_KEY_BYTES
            and not any(variable.code in _ONLY_IN_SOME for variable in query.status_vars)
        )
        if not is_plain:
            return
        number = int(state[State.KEY_COUNT]) % _MAX_KEYS
        state[State.KEY_COUNT] = max(int(state[State.KEY_COUNT]), number + 1)
        self._key_bytes[number, : len(raw)] = np.frombuffer(raw, np.uint8)
        fraction = _fraction_offset(query, raw)
        self._keys[KEY_FIELDS * number : KEY_FIELDS * (number + 1)] = (
            address_of(self._key_bytes[number]),
            len(raw),
            event.header.flags,
            fraction,
        )


def _event(array: np.ndarray, start: int, length: int) -> bytes:
    """Return the event at an offset; if its size is wrong, all that follows."""
    size = int.from_bytes(array[start:length][_SIZE].tobytes(), "little")
    end = min(length, start + size) if size >= _HEADER else length
    return array[start:end].tobytes()


def _fraction_offset(query: Query, raw: bytes) -> int:
    """Return where the microseconds of a statement are, -1 if it has none.

    They are the last of its variables, or before the default collation.
    """
    microseconds = query.status(StatusCode.MICROSECONDS)
    if microseconds is None:
        return -1
    return raw.rfind(bytes((StatusCode.MICROSECONDS,)) + microseconds.to_bytes(3, "little")) + 1
