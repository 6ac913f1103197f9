"""Prints most events of a log by a kernel, and leaves the others to Python, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from binspark.dump.mysql.buffers import Buffer, address_of, numbers, text_bytes
from binspark.dump.mysql.bulk_tables import KnownTables
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
from binspark.kernels.compiler import Headway
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

if TYPE_CHECKING:
    from binspark.dump.mysql.bulk_payloads import InnerEvents

_INPUT_BYTES = 1 << 22
_OUTPUT_BYTES = 1 << 22
_BODY_BYTES = 1 << 22
_FOOTER_BYTES = 1 << 23
_MAX_FOOTER_BYTES = 1 << 26
_NEVER = 1 << 62
_MAX_KEYS = 4
_MAX_KEY_BYTES = 4096
_MAX_ATTEMPTS = 4
_LONG_TEXT = 32
_NO_TIMES = [-1] * CLOCK_FIELDS * CLOCK_SLOTS
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


class BulkPrinter:
    """Prints the events of one log. While Python prints an event, the page has what the kernel has collected."""

    def __init__(self, page: Page, progress: Progress, stop: int | None, stop_time: int | None) -> None:
        self._page = page
        self._progress = progress
        self._state = numbers([0] * STATE_FIELDS)
        self._input = Buffer(_INPUT_BYTES)
        self._output = Buffer(_OUTPUT_BYTES)
        self._body = Buffer(_BODY_BYTES)
        self._footer = Buffer(_FOOTER_BYTES)
        self._inner: InnerEvents | None = None
        self._tables = KnownTables(with_types=page.settings.verbose > 1)
        self._mapped = numbers([0] * 2 * MAPPED_TABLES)
        self._keys = numbers([0] * KEY_FIELDS * _MAX_KEYS)
        self._key_texts = [text_bytes(b"")] * _MAX_KEYS
        self._session: Session | None = None
        self._clock = numbers(_NO_TIMES)
        self._clock_texts = [text_bytes(b"")] * CLOCK_SLOTS
        self._zone = b""
        self._attempts = (-1, 0)
        self._texts = numbers([0] * 2 * len(TEXTS))
        self._text_bytes = [text_bytes(TEXTS[text]) for text in Text]
        for text in Text:
            self._set_text(text, TEXTS[text])
        state = self._state
        state[State.STOP] = _NEVER if stop is None else stop
        state[State.STOP_TIME] = _NEVER if stop_time is None else stop_time
        state[State.OUTER_END] = -1
        state[State.VERBOSE] = page.settings.verbose
        state[State.WITH_BASE64] = not page.decodes_only

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
                framer.offset = state[State.POSITION] + state[State.CONSUMED]
                yield from framer.feed(data)
            consumed = state[State.CONSUMED]
            rest = length - consumed
            self._input.move_to_start(consumed, length)
            state[State.POSITION] += consumed
            state[State.CONSUMED] = 0
            length = rest + self._fill(file, rest)
            if length == rest:
                break
        framer.offset = state[State.POSITION]
        self._move_to_page()
        yield from framer.feed(bytes(self._input.view[:length]))
        framer.finish()

    def inner_frames(self, event: Event) -> Iterator[Frame]:
        """Print the events of a compressed transaction; yield those that Python must print and pass to `note`."""
        outer, state = event.frame, self._state
        if state[State.OUTER_END] >= 0:  # a payload in a payload, which no server writes
            yield from inner_frames(event)
            return
        from binspark.dump.mysql.bulk_payloads import InnerEvents, without_checksum  # few logs are compressed

        inner = self._inner = self._inner or InnerEvents()
        saved = [state[field] for field in _OF_INPUT]
        self._set_input((0, 0, 0, _NEVER, outer.header.next_position))
        self._attempts = (-1, 0)
        self._take_from_page()
        framer = Framer(format_without_checksum(outer.format))
        try:
            for buffer, length in inner.chunks(event):
                state[State.CONSUMED] = 0
                for data in self._print(buffer, length):
                    plain = without_checksum(data) if outer.format.checksum_length else data
                    for frame in framer.feed(plain):
                        yield as_outside(frame._replace(inner=state[State.EVENTS]), outer)
                state[State.POSITION] += length
            for frame in framer.feed(inner.rest):
                yield as_outside(frame, outer)
            framer.finish()
            self._move_to_page()
        except DecodeError as error:
            self._move_to_page()
            raise inside_payload(error, state[State.EVENTS], outer).at(event.position) from None
        finally:
            self._set_input(saved)

    def _set_input(self, values: Iterable[int]) -> None:
        for field, value in zip(_OF_INPUT, values, strict=True):
            self._state[field] = value

    def _print(self, buffer: Buffer, length: int) -> Iterator[bytes]:
        """Print the complete events in a buffer; yield those that Python must print."""
        state, headway = self._state, Headway()
        while (status := self._run(buffer, length)) != Status.INPUT:
            headway.check(state[State.CONSUMED])
            if self._is_for_python(Status(status)):
                consumed = state[State.CONSUMED]
                data = _event(buffer, consumed, length)
                self._move_to_page()
                yield data
                self._take_from_page()
                state[State.CONSUMED] = consumed + len(data)
                state[State.EVENTS] += 1
            elif status != Status.TIME:
                self._make_room(Status(status))

    def _is_for_python(self, status: Status) -> bool:
        """Return whether Python must print the next event. It writes rows one by one, if they have too much text."""
        if status == Status.FOOTER:
            return self._state[State.FOOTER] == 0 and self._footer.room >= _MAX_FOOTER_BYTES
        return status == Status.EVENT or (status == Status.TIME and not self._set_time())

    def note(self, event: Event) -> None:
        """Take an event that Python has printed: what it sets is in force for the following ones."""
        body = event.body
        if isinstance(body, Query):
            self._note_query(event)
        elif isinstance(body, TableMap) and self._page.settings.verbose:
            index, count = self._tables.add(event), self._state[State.MAPPED]
            if index >= 0 and count < MAPPED_TABLES:
                self._mapped[2 * count], self._mapped[2 * count + 1] = body.table_id, index
                self._state[State.MAPPED] = count + 1
            if self._tables.has_json and not self._state[State.JSON_WRITER]:
                self._state[State.JSON_WRITER] = _json_writer()
        elif isinstance(body, Rows) and body.ends_statement:
            self._state[State.MAPPED] = 0

    def _run(self, buffer: Buffer, length: int) -> int:
        arrays = (self._texts, self._clock, self._keys, self._tables.numbers, self._mapped, self._state)
        rooms = [word for room in (self._output, self._body, self._footer) for word in (room.address, room.room)]
        self._state[State.TABLE_COUNT] = len(self._tables.maps)
        status: int = print_events(buffer.address, length, *rooms, *map(address_of, arrays))
        return status

    def _fill(self, file: LogFile, start: int) -> int:
        """Read more bytes after `start`; return how many."""
        needed = self._state[State.NEEDED]
        if needed > self._input.room:
            self._input = self._input.grown(needed, start)
        self._state[State.NEEDED] = 0
        return file.readinto(self._input.view[start : self._input.room]) or 0

    def _make_room(self, status: Status) -> None:
        """Write what was collected; with a larger buffer where one event does not fit."""
        needed = self._state[State.NEEDED]
        if status == Status.OUTPUT:
            self._write_output()
            if self._state[State.BODY] + self._state[State.FOOTER] > self._output.room // 2:
                self._move_to_page()
                self._take_from_page()
            return
        is_empty = self._state[State.FOOTER] == 0
        self._move_to_page()
        if status == Status.FLUSH:
            self._page.flush()
        elif status == Status.BODY and needed > self._body.room:
            self._body = Buffer(needed)
        elif status == Status.FOOTER and is_empty:
            self._footer = Buffer(2 * self._footer.room)
        self._take_from_page()

    def _write_output(self) -> None:
        self._page.output.write_view(self._output.view[: self._state[State.OUTPUT]])
        self._state[State.OUTPUT] = 0

    def _move_to_page(self) -> None:
        state, page, progress = self._state, self._page, self._progress
        self._write_output()
        for text, buffer, field in ((page.body, self._body, State.BODY), (page.footer, self._footer, State.FOOTER)):
            if state[field]:
                text.write(bytes(buffer.view[: state[field]]))
                state[field] = 0
        page.server_version = state[State.SERVER_VERSION] if state[State.SERVER_VERSION] >= 0 else None
        progress.in_transaction = bool(state[State.IN_TRANSACTION])
        progress.seen_gtid = bool(state[State.SEEN_GTID])
        progress.unfinished_statement = bool(state[State.UNFINISHED])
        for number in range(state[State.MAPPED]):
            table_id, index = self._mapped[2 * number : 2 * number + 2]
            page.table_maps[table_id] = self._tables.maps[index]

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
        position = self._state[State.POSITION] + self._state[State.CONSUMED]
        count = self._attempts[1] + 1 if self._attempts[0] == position else 1
        self._attempts = (position, count)
        if count > _MAX_ATTEMPTS:
            return False
        second = self._state[State.SECOND]
        long, zone = self._page.clock.long(second)
        if zone != self._zone:  # the names of all texts that are known are others
            self._zone = zone
            self._clock = numbers(_NO_TIMES)
            self._set_text(Text.ZONE, b" " + zone)
        slot = second % CLOCK_SLOTS
        texts = self._clock_texts[slot] = text_bytes(self._page.clock.short(second).ljust(_LONG_TEXT) + long)
        address = address_of(texts)
        self._clock[CLOCK_FIELDS * slot : CLOCK_FIELDS * (slot + 1)] = numbers((second, address, address + _LONG_TEXT))
        return True

    def _set_text(self, text: Text, content: bytes) -> None:
        kept = self._text_bytes[text] = text_bytes(content)
        self._texts[2 * text], self._texts[2 * text + 1] = address_of(kept), len(content)

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
        number = state[State.KEY_COUNT] % _MAX_KEYS
        state[State.KEY_COUNT] = max(state[State.KEY_COUNT], number + 1)
        text = self._key_texts[number] = text_bytes(raw)
        key = (address_of(text), len(raw), event.header.flags, _fraction_offset(query, raw))
        self._keys[KEY_FIELDS * number : KEY_FIELDS * (number + 1)] = numbers(key)


def _json_writer() -> int:
    """Return the address of what writes JSON documents, which needs more modules than all the rest."""
    from binspark.kernels.text_writers import text_writer_address

    return text_writer_address(ColumnType.JSON)


def _event(buffer: Buffer, start: int, length: int) -> bytes:
    """Return the event at an offset; if its size is wrong, all that follows."""
    size = int.from_bytes(buffer.view[start:length][_SIZE], "little")
    end = min(length, start + size) if size >= _HEADER else length
    return bytes(buffer.view[start:end])


def _fraction_offset(query: Query, raw: bytes) -> int:
    """Return where the microseconds of a statement are, -1 if it has none.

    They are the last of its variables, or before the default collation.
    """
    microseconds = query.status(StatusCode.MICROSECONDS)
    if microseconds is None:
        return -1
    return raw.rfind(bytes((StatusCode.MICROSECONDS,)) + microseconds.to_bytes(3, "little")) + 1
