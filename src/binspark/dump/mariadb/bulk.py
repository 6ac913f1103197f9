"""Prints most events of a log by a kernel, many at a time; the others one at a time, by `LogPrinter`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from functools import cache

import numpy as np
import numpy.typing as npt

from binspark.dump.mariadb.bulk_tables import KnownTables
from binspark.dump.mariadb.gtid_filter import GtidOrder
from binspark.dump.mariadb.printer import LogPrinter
from binspark.dump.mariadb.reader import LogEnds
from binspark.dump.output import Output
from binspark.errors import DecodeError
from binspark.event import Event, decode_event
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Frame, Framer
from binspark.gtid import MariadbGtid
from binspark.kernels.compiler import Headway
from binspark.kernels.mariadb_binlog.events import print_events
from binspark.kernels.mariadb_binlog.layout import WORDS, Dump, Status
from binspark.position import Position

Memory = npt.NDArray[np.uint8]
Handle = Callable[[Frame], Event | None]
"""Prints an event in Python; returns it if it was decoded."""

READ_BYTES = 4 << 20
_SLACK = 1 << 16
REGIONS = {Dump.OUT: 12 << 20, Dump.HEAD: 1 << 18, Dump.BODY: 2 << 20, Dump.TAIL: 4 << 20}
_ZONE_SECONDS = 900
"""Time zones change at multiples of this."""

_MAX_SIGNED = (1 << 63) - 1
_HEADER, _SIZE, _MAGIC = 19, 9, 4


class BulkPrinter:
    """Prints one log from its beginning to its end."""

    def __init__(self, printer: LogPrinter, output: Output, order: GtidOrder, handle: Handle) -> None:
        self._printer = printer
        self._output = output
        self._order = order
        self._zone: tzinfo = UTC
        self._handle = handle
        self._name = ""
        self._state = np.zeros(Dump.WIDTH, dtype=np.int64)
        self._regions = {name: np.empty(size + _SLACK, np.uint8) for name, size in REGIONS.items()}
        self._words = _words()
        self._tables = KnownTables()
        self._framer = Framer(report_checksums=True)
        self._framer.verifies_checksums = False
        self._memory: Memory = np.empty(READ_BYTES + _SLACK, np.uint8)
        state = self._state
        for name, memory in self._regions.items():
            state[name] = state[name + 1] = memory.ctypes.data
            state[name + 2] = memory.ctypes.data + REGIONS[name]
        state[Dump.WORDS] = self._words.ctypes.data
        state[Dump.PRINTF] = _printf_address()

    def set_form(self, zone: tzinfo, *, positions: bool, annotations: bool) -> None:
        """Set the time zone of times, and whether positions and annotations are printed."""
        self._zone = zone
        self._state[Dump.POSITIONS], self._state[Dump.SKIPS_ANNOTATIONS] = positions, not annotations

    def print(self, file: LogFile, name: str) -> None:
        """Print all events; raise `LogEnds` where the rest cannot be read as events."""
        memory, self._name = self._memory, name
        filled = offset = 0
        try:
            while True:
                if filled + _SLACK >= len(memory):
                    memory = self._memory = _grown(memory, filled)
                count = file.readinto(memory[filled : len(memory) - _SLACK].data)
                if not count:
                    break
                filled += count
                used = self._print_chunk(memory, filled, offset)
                offset += used
                self._keep_annotation()
                memory[: filled - used] = memory[used:filled].copy()
                filled -= used
            self._framer.offset = offset
            self._print_frames(memory[:filled])
            self._finish()
        finally:
            self._drain(Dump.OUT)

    def _print_chunk(self, memory: Memory, filled: int, offset: int) -> int:
        """Print the complete events of a chunk; return how many bytes they have."""
        state, base = self._state, int(memory.ctypes.data)
        at = 0
        if self._framer.format is None:
            first = _MAGIC + _size_at(memory, filled, _MAGIC)
            if first < _MAGIC + _HEADER or first > filled:
                return 0
            self._print_frames(memory[:first])
            at = first
        state[Dump.AT], state[Dump.END], state[Dump.OFFSET] = base + at, base + filled, offset + at
        headway = Headway()
        while True:
            status = print_events(int(state.ctypes.data))
            headway.check(int(state[Dump.AT]))
            at = int(state[Dump.AT]) - base
            if status == Status.MORE:
                return at
            if status == Status.NO_ROOM and self._make_room():
                continue
            if status == Status.END_OF_STATEMENT:
                self._spill()
                self._end_statement()
                state[Dump.SPILLED] = 0
                continue
            size = _size_at(memory, filled, at)
            if size < _HEADER:
                return at
            self._framer.offset = offset + at
            self._print_frames(memory[at : at + size])
            at += size
            state[Dump.AT], state[Dump.OFFSET] = base + at, offset + at

    def _print_frames(self, events: Memory) -> None:
        for frame in self._framed(events):
            self._print_by_python(frame)

    def _framed(self, events: Memory) -> list[Frame]:
        try:
            return list(self._framer.feed(events.tobytes()))
        except DecodeError as error:
            raise LogEnds(error.at(Position(file=self._name))) from None

    def _finish(self) -> None:
        try:
            self._framer.finish()
        except DecodeError as error:
            raise LogEnds(error.at(Position(file=self._name))) from None

    def _end_statement(self) -> None:
        rows = self._printer.rows
        rows.row_count = int(self._state[Dump.ROW_COUNT])
        rows.end_statement()
        self._state[Dump.ROW_COUNT] = 0

    def _print_by_python(self, frame: Frame) -> None:
        """Print an event by the reference, in the state that the kernel has left, and take over its state."""
        self._keep_annotation()
        self._spill()
        self._drain(Dump.OUT)
        state, rows = self._state, self._printer.rows
        rows.row_count, rows.in_rows = int(state[Dump.ROW_COUNT]), bool(state[Dump.IN_ROWS])
        if state[Dump.SEEN_GTID]:
            self._printer.leave_xa()
            last = (int(state[field]) for field in (Dump.DOMAIN, Dump.SERVER, Dump.LAST_SEQUENCE))
            self._order.record_checked(MariadbGtid(*last))
        if frame.type_code == EventCode.FORMAT_DESCRIPTION:
            state[Dump.CHECKSUM] = frame.format.checksum_length
        event = self._handle(frame)
        if event is not None and frame.type_code == EventCode.TABLE_MAP:
            self._tables.add(event, rows)
            state[Dump.TABLES], state[Dump.TABLE_COUNT] = self._tables.address, self._tables.count
        self._take_state(frame.header.timestamp)

    def _take_state(self, seconds: int) -> None:
        state, printer = self._state, self._printer
        rows = printer.rows
        state[Dump.ROW_COUNT], state[Dump.IN_ROWS] = rows.row_count, rows.in_rows
        state[Dump.SKIPS], state[Dump.SEEN_GTID] = printer.skip_replication, 0
        state[Dump.PENDING], state[Dump.SPILLED] = rows.has_annotation, printer.has_waiting
        state[Dump.VERBOSE], state[Dump.ENCODES], state[Dump.COUNTS] = rows.verbose, rows.encodes, rows.counts
        state[Dump.PARALLEL], state[Dump.DOMAIN], state[Dump.SERVER] = printer.gtid_settings
        state[Dump.CHECKS_ORDER] = self._order.is_checked
        # Larger numbers are for Python, which also decides about the largest one that fits here.
        first, last = (min(number, _MAX_SIGNED) for number in self._order.sequences(int(state[Dump.DOMAIN])))
        state[Dump.START_SEQUENCE], state[Dump.LAST_SEQUENCE] = first, last
        if not state[Dump.ZONE_FROM] <= seconds < state[Dump.ZONE_UNTIL] and seconds:
            self._set_zone(seconds)

    def _set_zone(self, seconds: int) -> None:
        start = seconds - seconds % _ZONE_SECONDS
        offset = datetime.fromtimestamp(seconds, self._zone).utcoffset()
        self._state[Dump.ZONE] = 0 if offset is None else int(offset.total_seconds())
        self._state[Dump.ZONE_FROM], self._state[Dump.ZONE_UNTIL] = start, start + _ZONE_SECONDS

    def _make_room(self) -> bool:
        """Empty the regions; return False if they are empty already."""
        is_full = any(self._state[name + 1] > self._state[name] for name in REGIONS)
        if self._state[Dump.OUT_AT] > self._state[Dump.OUT]:
            self._drain(Dump.OUT)
            return True
        self._spill()
        self._state[Dump.SPILLED] = self._printer.has_waiting
        return is_full

    def _spill(self) -> None:
        """Give what waits for the end of its statement to the printer, which keeps any amount."""
        if self._state[Dump.OUT_AT] > self._state[Dump.OUT]:
            self._drain(Dump.OUT)
        self._printer.take_waiting(*(self._taken(name) for name in (Dump.HEAD, Dump.BODY, Dump.TAIL)))

    def _drain(self, region: Dump) -> None:
        text = self._taken(region)
        if text:
            self._output.write(text)

    def _taken(self, region: Dump) -> bytes:
        length = int(self._state[region + 1] - self._state[region])
        self._state[region + 1] = self._state[region]
        return self._regions[region][:length].tobytes() if length else b""

    def _keep_annotation(self) -> None:
        """Keep an annotation in Python if the kernel does not print its table map, or that is not in memory yet."""
        state, memory = self._state, self._memory
        start = int(state[Dump.ANNOTATION]) - int(memory.ctypes.data)
        if not state[Dump.ANNOTATION]:
            return
        state[Dump.ANNOTATION] = 0
        size = int.from_bytes(memory[start + _SIZE : start + _SIZE + 4].tobytes(), "little")
        self._framer.offset = int(state[Dump.ANNOTATION_OFFSET])
        for frame in self._framer.feed(memory[start : start + size].tobytes()):
            self._printer.rows.keep_annotation(decode_event(frame))
        state[Dump.PENDING] = self._printer.rows.has_annotation


def _size_at(memory: Memory, filled: int, at: int) -> int:
    if at + _HEADER > filled:
        return 0
    return int.from_bytes(memory[at + _SIZE : at + _SIZE + 4].tobytes(), "little")


def _grown(memory: Memory, filled: int) -> Memory:
    larger: Memory = np.empty(2 * len(memory), np.uint8)
    larger[:filled] = memory[:filled]
    return larger


@cache
def _texts() -> Memory:
    return np.frombuffer(b"".join(WORDS) + bytes(_SLACK), np.uint8)


def _words() -> npt.NDArray[np.int64]:
    """Return address and length of each constant text."""
    words = np.zeros(2 * len(WORDS), np.int64)
    at = int(_texts().ctypes.data)
    for index, text in enumerate(WORDS):
        words[2 * index : 2 * index + 2] = at, len(text)
        at += len(text)
    return words


@cache
def _printf_address() -> int:
    return int(ctypes.cast(ctypes.CDLL(None).snprintf, ctypes.c_void_p).value or 0)
