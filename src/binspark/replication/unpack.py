"""Packets of a replication stream into the bytes of a log: many events at a time, each of them verified.

There are two unpackers with the same results. The plain one is there at once, and about as fast as the kernel where
events are large: copies and checksums are not Python's work. The kernel pays once much has come, because NumPy and
llvmlite take as long to load as a hundred megabytes take to copy.

Both handle events that are in a file and whose packets are complete. Everything else (a heartbeat, a rotation, the end,
an error, an event over 16 MB, one that looks wrong) they leave to the stream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from zlib import crc32

from binspark.frames import HeaderFlag
from binspark.frames.checksum import RESIDUE
from binspark.frames.format import CHECKSUM_LENGTH
from binspark.frames.header import HEADER_LENGTH
from binspark.kernels.packet_layout import ODD_CODES, PACKET_ROLES, Outcome
from binspark.replication.channel import MAX_PAYLOAD, PACKET_HEADER, Memory, UnreadPackets
from binspark.transactions.byte_tables import PROGRESS_AFTER, PROGRESS_COUNT, STARTS_NOTHING, role_in_bytes
from binspark.transactions.grammar import Role

_ARTIFICIAL = int(HeaderFlag.ARTIFICIAL)
_HEAD = Struct("<IBIBIIIH")
"""Length and number of a packet, and its first byte; time, type, server, size, next position and flags of its event."""

_BY_BODY = frozenset(map(int, (Role.BY_STATEMENT, Role.BY_ROWS_FLAGS, Role.BY_GTID_FLAGS)))
_UNDECIDED = int(Role.UNDECIDED)

_BYTES_PER_EVENT = 1 << 14
"""The number of bytes that cost the plain unpacker about as much more than the kernel as one event does."""

_KERNEL_PAYS = 1 << 16
"""The number of events that take about as long as loading the kernel."""


@dataclass(slots=True, eq=False)
class Unpacked:
    """What was unpacked, and the state that continues from call to call.

    target         the bytes of events, up to `size`
    offset         where in the file the next event is expected
    checksum       whether events end with a CRC32
    progress       what is in progress after the last event, one of `Progress`
    complete_size  up to where nothing is in progress; 0 for nowhere
    last           in `target`, the last event
    indirect_rows  whether the offset of some event does not identify the rows in it
    events         how many events there are
    transactions   how many of them begin a transaction
    stop_offset    the first transaction that ends at this offset or later is the last; 0 for none
    stop_time      no transaction is unpacked that begins at this time or later, in seconds since 1970; 0 for none
    """

    target: Memory
    size: int = 0
    offset: int = 0
    checksum: bool = False
    progress: int = 0
    complete_size: int = 0
    last: int = 0
    indirect_rows: bool = False
    events: int = 0
    transactions: int = 0
    stop_offset: int = 0
    stop_time: int = 0

    def begin(self, offset: int, *, checksum: bool, stop_offset: int) -> None:
        """Begin to fill the target with the events from an offset on."""
        self.offset = offset
        self.checksum = checksum
        self.stop_offset = stop_offset
        self.size = self.complete_size = self.events = self.transactions = 0
        self.indirect_rows = False


UnpackFunction = Callable[[UnreadPackets, Unpacked], Outcome]


def is_numpy_loaded() -> bool:
    """Return whether this process has paid for NumPy already."""
    return "numpy" in sys.modules


class Unpacker:
    """Unpacks plainly until much has come, then with the kernel; from the beginning if NumPy is loaded anyway."""

    def __init__(self) -> None:
        self._kernel: KernelUnpacker | None = KernelUnpacker() if is_numpy_loaded() else None
        self._cost = 0

    @property
    def uses_kernel(self) -> bool:
        """Whether the kernel unpacks from now on."""
        return self._kernel is not None

    def __call__(self, packets: UnreadPackets, unpacked: Unpacked) -> Outcome:
        """Copy the events of packets one after the other; return why it ended."""
        if self._kernel is not None:
            return self._kernel(packets, unpacked)
        events, size = unpacked.events, unpacked.size
        outcome = unpack_plainly(packets, unpacked)
        self._cost += unpacked.events - events + (unpacked.size - size) // _BYTES_PER_EVENT
        if self._cost > _KERNEL_PAYS:
            self._kernel = KernelUnpacker()
        return outcome


def unpack_plainly(packets: UnreadPackets, unpacked: Unpacked) -> Outcome:  # noqa: C901, PLR0911 (the kernel's twin)
    """Copy the events of packets one after the other; return why it ended."""
    view, target, room = packets.memory.view, unpacked.target.view, unpacked.target.size
    min_length = HEADER_LENGTH + CHECKSUM_LENGTH * unpacked.checksum
    while not (unpacked.stop_offset and unpacked.progress == 0 and unpacked.offset >= unpacked.stop_offset):
        start, available = packets.start, packets.end - packets.start
        head, mark, seconds, code, _server, size, position, flags = _HEAD.unpack_from(view, start)
        length = head & MAX_PAYLOAD
        packets.needed = PACKET_HEADER + (length if available >= PACKET_HEADER else 0)
        if available < PACKET_HEADER:
            return Outcome.MORE
        if length == MAX_PAYLOAD or head >> 24 != packets.sequence:
            return Outcome.PYTHON
        if available < packets.needed:
            return Outcome.MORE
        if length <= min_length or mark or size != length - 1 or flags & _ARTIFICIAL:
            return Outcome.PYTHON
        if position and position != (unpacked.offset + size) & 0xFFFFFFFF:
            return Outcome.PYTHON
        event = view[start + PACKET_HEADER + 1 : start + PACKET_HEADER + length]
        role = PACKET_ROLES[code]
        if role in _BY_BODY:
            role = role_in_bytes(role, event[HEADER_LENGTH : size - CHECKSUM_LENGTH * unpacked.checksum])
        if role == _UNDECIDED:
            return Outcome.PYTHON
        is_start = unpacked.progress == 0 and role not in STARTS_NOTHING
        if unpacked.stop_time and is_start and seconds >= unpacked.stop_time:
            return Outcome.STOPPED
        if room - unpacked.size < size:
            return Outcome.FULL
        if unpacked.checksum and crc32(event) != RESIDUE:
            return Outcome.PYTHON
        unpacked.transactions += is_start
        target[unpacked.size : unpacked.size + size] = event
        packets.start += PACKET_HEADER + 1 + size
        packets.sequence = (packets.sequence + 1) & 0xFF
        _advance(unpacked, size, code, role)
    return Outcome.STOPPED


def _advance(unpacked: Unpacked, size: int, code: int, role: int) -> None:
    """Continue after an event that was copied."""
    unpacked.events += 1
    unpacked.last = unpacked.size
    unpacked.size += size
    unpacked.offset += size
    unpacked.indirect_rows = unpacked.indirect_rows or code in ODD_CODES
    unpacked.progress = PROGRESS_AFTER[PROGRESS_COUNT * role + unpacked.progress]
    if unpacked.progress == 0:
        unpacked.complete_size = unpacked.size


class KernelUnpacker:
    """Does what `unpack_plainly` does. The first one loads NumPy, and compiles the kernel if it is not kept."""

    def __init__(self) -> None:
        import numpy as np

        from binspark.kernels.crc32 import crc32_address
        from binspark.kernels.packets import Unpack, unpack

        self._fields = Unpack
        self._unpack = unpack
        self._tables = [np.frombuffer(table, dtype=np.uint8) for table in (PACKET_ROLES, PROGRESS_AFTER)]
        self._numbers = np.zeros(Unpack.WIDTH, dtype=np.int64)
        self._numbers[Unpack.CRC_FUNCTION] = crc32_address()
        self._numbers[[Unpack.ROLES, Unpack.AFTER]] = [table.ctypes.data for table in self._tables]

    def __call__(self, packets: UnreadPackets, unpacked: Unpacked) -> Outcome:
        """Copy the events of packets one after the other; return why it ended."""
        self._load(packets, unpacked)
        outcome = Outcome(self._unpack(self._numbers))
        self._store(packets, unpacked)
        return outcome

    def _load(self, packets: UnreadPackets, unpacked: Unpacked) -> None:
        fields, numbers = self._fields, self._numbers
        source, target = packets.memory.address, unpacked.target.address
        numbers[fields.IN_AT], numbers[fields.IN_END] = source + packets.start, source + packets.end
        numbers[fields.OUT_AT], numbers[fields.OUT_END] = target + unpacked.size, target + unpacked.target.size
        numbers[fields.SEQUENCE], numbers[fields.NEEDED] = packets.sequence, packets.needed
        numbers[fields.OFFSET], numbers[fields.CHECKSUM] = unpacked.offset, unpacked.checksum
        numbers[fields.PROGRESS] = unpacked.progress
        numbers[fields.COMPLETE] = target + unpacked.complete_size if unpacked.complete_size else 0
        numbers[fields.LAST], numbers[fields.ODD] = target + unpacked.last, unpacked.indirect_rows
        numbers[fields.STOP], numbers[fields.STOP_TIME] = unpacked.stop_offset, unpacked.stop_time
        numbers[fields.EVENTS], numbers[fields.TRANSACTIONS] = unpacked.events, unpacked.transactions

    def _store(self, packets: UnreadPackets, unpacked: Unpacked) -> None:
        fields, numbers = self._fields, self._numbers.tolist()
        source, target = packets.memory.address, unpacked.target.address
        packets.start, unpacked.size = numbers[fields.IN_AT] - source, numbers[fields.OUT_AT] - target
        packets.sequence, packets.needed = numbers[fields.SEQUENCE], numbers[fields.NEEDED]
        unpacked.offset, unpacked.progress = numbers[fields.OFFSET], numbers[fields.PROGRESS]
        unpacked.complete_size = numbers[fields.COMPLETE] - target if numbers[fields.COMPLETE] else 0
        unpacked.last, unpacked.indirect_rows = numbers[fields.LAST] - target, bool(numbers[fields.ODD])
        unpacked.events, unpacked.transactions = numbers[fields.EVENTS], numbers[fields.TRANSACTIONS]
