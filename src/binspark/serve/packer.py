"""Events of a log into packets: what was read, what is to be sent, and the kernel between them."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from uuid import UUID

import numpy as np

from binspark.event import EventDecoder
from binspark.files.log_head import LogHead
from binspark.frames import EventCode, Framer
from binspark.frames.format import ChecksumAlgorithm
from binspark.frames.header import HEADER, HEADER_LENGTH, Header
from binspark.gtid import Gtid, MariadbGtid
from binspark.kernels.crc32 import crc32_address
from binspark.kernels.pack import INTERVAL_LENGTH, Pack, Packed, pack
from binspark.replication.channel import Memory
from binspark.serve.gtid_skips import AnyGtid
from binspark.serve.logs import ServedLog

BLOCK = 1 << 18
"""How much of a log is read at a time. Larger events are not collected: they are sent as they are read."""

_PACKETS = BLOCK + (BLOCK >> 2) + (1 << 10)
_UUID = slice(20, 36)
_NUMBER = slice(36, 44)
_SEQUENCE = slice(19, 27)
_DOMAIN = slice(27, 31)


class OpenLog:
    """A log that is read from an offset on, from its beginning to its end, also while it grows."""

    def __init__(self, log: ServedLog, offset: int, memory: Memory) -> None:
        self.log = log
        self._opened = ExitStack()
        self.head: LogHead
        self._file, self.head = self._opened.enter_context(log.open())
        self.memory = memory
        self.start = self.end = 0
        self.offset = offset
        self._file.seek(offset)
        self._known_size = -1
        self._limit = sys.maxsize

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def fill(self) -> bool:
        """Read more, after what was not used yet; return whether there was more."""
        view = self.memory.view
        if self.start:
            rest = self.end - self.start
            view[:rest] = bytes(view[self.start : self.end])
            self.start, self.end = 0, rest
        room = min(self.memory.size - self.end, self._limit - self._read_to)
        count = self._file.readinto(view[self.end : self.end + room]) if room > 0 else 0
        self.end += count
        return count > 0

    def has_grown(self) -> bool:
        """Return whether the file has another size than when this was called last."""
        size = self.log.source.size()
        if size == self._known_size:
            return False
        self._known_size = size
        return True

    def reopen(self) -> None:
        """Open the file again: in a remote store, a log that has grown is another file."""
        if self._file.is_compressed:
            return  # nobody appends to it
        self._opened.close()
        self._file, self.head = self._opened.enter_context(self.log.open())
        self._file.seek(self._read_to)

    def stop_at(self, limit: int) -> None:
        """Read only up to an offset, at which an event ends; what was read after it is read again, if need be."""
        self._limit = limit
        self.end = min(self.end, self.start + limit - self.offset)
        self._file.seek(self._read_to)

    @property
    def _read_to(self) -> int:
        """The offset after what was read."""
        return self.offset + self.end - self.start

    @property
    def header(self) -> Header | None:
        """The header of the next event; None if it is not complete."""
        if self.end - self.start < HEADER_LENGTH:
            return None
        return Header._make(HEADER.struct.unpack_from(self.memory.view, self.start))

    def holds(self, size: int) -> bool:
        """Return whether the file has all of an event that begins here."""
        return self._file.is_compressed or self.offset + size <= self.log.source.size()

    def take(self, maximum: int) -> memoryview:
        """Return the next bytes, which are valid until the next call; none if there are no more for now."""
        if self.start == self.end and not self.fill():
            return memoryview(b"")
        size = min(maximum, self.end - self.start)
        part = self.memory.view[self.start : self.start + size]
        self.start += size
        self.offset += size
        return part

    def gtid(self) -> AnyGtid:
        """Return the GTID of the event that comes next, which is complete; None if it is anonymous."""
        header = self.header
        assert header is not None
        event = bytes(self.memory.view[self.start : self.start + header.event_size])
        match header.type_code:
            case EventCode.GTID:
                return Gtid(str(UUID(bytes=event[_UUID])), int.from_bytes(event[_NUMBER], "little"))
            case EventCode.MARIADB_GTID:
                sequence, domain = (int.from_bytes(event[part], "little") for part in (_SEQUENCE, _DOMAIN))
                return MariadbGtid(domain, header.server_id, sequence)
            case EventCode.GTID_TAGGED:
                frame = next(Framer(self.head.format, self.offset).feed(event))
                gtid: Gtid = EventDecoder(self.log.name).decode(frame).body.gtid
                return gtid
        return None


class Packer:
    """Packs the events of open logs. Its memory is all that a dump needs, whatever the log contains."""

    def __init__(self, dropped: EventCode | None, skipped: bytes | None) -> None:
        """Pack all events but those of one type and those of skipped transactions; None for what `decide` decides."""
        self.packets = Memory(_PACKETS)
        self._numbers = np.zeros(Pack.WIDTH, dtype=np.int64)
        self._numbers[Pack.CRC_FUNCTION] = crc32_address()
        self._numbers[Pack.DROPPED] = -1 if dropped is None else dropped
        self._numbers[Pack.LAST_TYPE] = -1
        self._skipped = np.frombuffer(skipped or bytes(INTERVAL_LENGTH), dtype=np.uint8)
        self._numbers[Pack.INTERVALS] = self._skipped.ctypes.data
        self._numbers[Pack.INTERVAL_COUNT] = -1 if skipped is None else len(skipped) // INTERVAL_LENGTH
        self.size = 0

    @property
    def last_type(self) -> int:
        """The type code of the last event; -1 for none."""
        return int(self._numbers[Pack.LAST_TYPE])

    @property
    def skips(self) -> bool:
        """Whether the transaction that comes now is skipped."""
        return bool(self._numbers[Pack.SKIPS])

    def begin_log(self) -> None:
        """Note that another log begins: no transaction continues."""
        self._numbers[Pack.SKIPS], self._numbers[Pack.LAST_TYPE] = 0, -1

    def end_skipping(self) -> None:
        """Send what comes next, which belongs to no transaction."""
        self._numbers[Pack.SKIPS] = 0

    def decide(self, *, skips: bool) -> None:
        """Decide whether the transaction that begins next is skipped."""
        self._numbers[Pack.SKIPS], self._numbers[Pack.IS_DECIDED] = skips, 1

    def pack(self, log: OpenLog, sequence: int, *, filters: bool) -> tuple[Packed, int]:
        """Pack events one after the other; return why that ended, and the number of the next packet."""
        numbers, source, target = self._numbers, log.memory.address, self.packets.address
        numbers[Pack.IN_AT], numbers[Pack.IN_END] = source + log.start, source + log.end
        numbers[Pack.OUT_AT], numbers[Pack.OUT_END] = target + self.size, target + self.packets.size
        numbers[Pack.SEQUENCE], numbers[Pack.OFFSET], numbers[Pack.FILTERS] = sequence, log.offset, filters
        numbers[Pack.CHECKSUM] = log.head.format.checksum is ChecksumAlgorithm.CRC32
        outcome = Packed(pack(numbers))
        log.start, log.offset = int(numbers[Pack.IN_AT]) - source, int(numbers[Pack.OFFSET])
        self.size = int(numbers[Pack.OUT_AT]) - target
        return outcome, int(numbers[Pack.SEQUENCE])

    def take(self) -> memoryview:
        """Return the packets, to be sent before others are packed."""
        size, self.size = self.size, 0
        return self.packets.view[:size]
