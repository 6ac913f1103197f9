"""A dump: the logs from a position on, as a source sends them, until the client or the server ends it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from zlib import crc32

from binspark.encryption.start_event import as_server_sends_it
from binspark.errors import BinlogError, ConnectionLost
from binspark.event.mariadb import GtidListFlag
from binspark.frames import EventCode, Family
from binspark.frames.checksum import RESIDUE
from binspark.frames.format import ChecksumAlgorithm
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.kernels.pack import Packed
from binspark.replication.channel import MAX_PAYLOAD, Memory
from binspark.replication.commands import DumpFlag
from binspark.serve import errors
from binspark.serve.channel import ClientChannel
from binspark.serve.events import ArtificialEvents, sent_description
from binspark.serve.find import DumpStart
from binspark.serve.gtid_skips import MariadbSkips
from binspark.serve.logs import ArchiveLogs, ServedLog
from binspark.serve.packer import BLOCK, OpenLog, Packer
from binspark.serve.protocol import encode_eof
from binspark.serve.until import find_end

_EVENT_MARK = b"\0"


@dataclass(frozen=True, slots=True)
class DumpRequest:
    """What a client has requested, and what it knows.

    flags              those of its command
    server_id          the server id that artificial events have
    checksum           whether artificial events before the first format description have a checksum; None if the client
                       does not know checksums
    heartbeat_seconds  how often it wants a heartbeat; None for never
    """

    flags: DumpFlag
    server_id: int
    checksum: bool | None
    heartbeat_seconds: float | None


class Dump:
    """Sends the logs of an archive to one client. It needs the same memory whatever they contain."""

    def __init__(
        self, channel: ClientChannel, logs: ArchiveLogs, start: DumpStart, request: DumpRequest, stop: threading.Event
    ) -> None:
        self._channel = channel
        self._logs = logs
        self._start = start
        self._request = request
        self._stop = stop
        self._family = logs.identity.family
        wants_annotations = bool(request.flags & DumpFlag.ANNOTATE_ROWS)
        drops = self._family is Family.MARIADB and not wants_annotations
        intervals = None if start.skips is None else start.skips.intervals
        self._packer = Packer(EventCode.ANNOTATE_ROWS if drops else None, intervals)
        self._memory = Memory(BLOCK)
        self._skips = start.skips
        self._until = start.until
        self._last_start: int | None = None
        self._is_last_complete = False
        self._reported = ("", 0)
        self._idle_since = time.monotonic()
        self._open = OpenLog(start.log, start.offset, self._memory)
        self._artificial = ArtificialEvents(request.server_id, self._open.head.format, checksum=bool(request.checksum))

    @property
    def position(self) -> tuple[str, int]:
        """File and offset of what is sent next."""
        return self._open.log.name, self._open.offset

    def run(self) -> None:
        """Send; return when the client has ended the dump, everything was sent that it wanted, or the server stops."""
        try:
            self._begin_log(self._start.log, self._start.offset)
            if self._until is not None and self._until.is_reached:
                self._limit_to_one_event()
            while not self._stop.is_set():
                if not self._send_available() or not self._wait():
                    return
        except ConnectionLost:
            raise
        except BinlogError as error:
            raise errors.fatal(f"{error}") from None
        finally:
            self._open.close()

    # --- One log after the other --------------------------------------------------------------------------------------

    def _begin_log(self, log: ServedLog, offset: int) -> None:
        """Send what a log begins with: which one it is, and its format."""
        self._send_event(self._artificial.rotate(log.name, offset))
        head = self._open.head
        has_checksums = head.format.checksum is ChecksumAlgorithm.CRC32
        if has_checksums and self._request.checksum is None:
            raise errors.no_checksums()
        from_beginning = offset == FIRST_EVENT_OFFSET
        has_created = from_beginning and not (self._skips and log == self._start.log)
        self._send_event(sent_description(head.frame.data, has_position=from_beginning, has_created=has_created))
        self._artificial.format, self._artificial.checksum = head.format, has_checksums
        self._packer.begin_log()
        if from_beginning:
            self._skip_bytes(head.frame.end_offset - offset)
            self._send_start_encryption(has_checksum=has_checksums)

    def _send_start_encryption(self, *, has_checksum: bool) -> None:
        """Send START_ENCRYPTION of a log that MariaDB had encrypted: in the archive it is an event to be ignored."""
        opened = self._open
        if opened.header is None:
            opened.fill()
        header = opened.header
        if header is None or header.type_code != EventCode.IGNORABLE or self._family is not Family.MARIADB:
            return
        if header.event_size <= opened.end - opened.start:
            event = bytes(opened.take(header.event_size))
            self._send_event(as_server_sends_it(event, has_checksum=has_checksum))

    def _skip_bytes(self, count: int) -> None:
        while count > 0 and (part := self._open.take(count)):
            count -= len(part)

    def _next_log(self) -> bool:
        """Continue with the next log, if there is one, and nothing came to the end of this one in the meantime."""
        following = self._logs.after(self._open.log)
        if following is None:
            return False
        self._open.reopen()
        if self._open.fill():
            return True
        if self._open.start != self._open.end:
            raise errors.truncated((self._start.log.name, self._start.offset), *self.position)
        self._open.close()
        self._open = OpenLog(following, FIRST_EVENT_OFFSET, self._memory)
        self._begin_log(following, FIRST_EVENT_OFFSET)
        return True

    # --- Events -------------------------------------------------------------------------------------------------------

    def _send_available(self) -> bool:
        """Send all events that are there; return whether to wait for more."""
        while not self._stop.is_set():
            filters = bool(self._skips) or self._packer.skips or self._until is not None
            outcome, self._channel.sequence = self._packer.pack(self._open, self._channel.sequence, filters=filters)
            if outcome is Packed.TRANSACTION:
                self._decide()
                continue
            if outcome is Packed.SKIPPED:
                self._report_skipped()
                self._packer.end_skipping()
                continue
            self._flush()
            if outcome is Packed.MORE and not self._more():
                if self._is_last_complete:
                    self._end_at_until()
                    return False
                return not self._request.flags & DumpFlag.NON_BLOCK or self._end()
            if outcome in (Packed.DAMAGED, Packed.MISMATCH):
                start = (self._start.log.name, self._start.offset)
                raise errors.damaged(start, *self.position, mismatch=outcome is Packed.MISMATCH)
        return False

    def _more(self) -> bool:
        """Read more, send an event that is larger than the buffer, or go to the next log; return whether it was so."""
        if self._open.fill():
            return True
        header = self._open.header
        if header is not None and header.event_size > BLOCK and self._open.holds(header.event_size):
            self._send_large(header.event_size)
            return True
        return self._limit_to_last() if self._last_start is not None else self._next_log()

    def _limit_to_one_event(self) -> None:
        """Send one event more, as a server does if the position to stop at is before the log."""
        self._open.fill()
        header = self._open.header
        self._last_start, self._is_last_complete = self._open.offset, True
        self._open.stop_at(self._open.offset + (0 if header is None else header.event_size))

    def _limit_to_last(self) -> bool:
        """Read no further than the last transaction that is wanted; return whether there is more of it."""
        if self._last_start is None or self._is_last_complete:
            return False
        end = find_end(self._open.log, self._last_start)
        self._open.stop_at(end.offset)
        self._is_last_complete = end.is_complete
        return self._open.offset < end.offset

    def _decide(self) -> None:
        """Decide about the transaction that begins next."""
        assert self._skips is not None
        if isinstance(self._skips, MariadbSkips):
            self._report_skipped()
        gtid = self._open.gtid()
        skips = self._skips.skips(gtid)
        if self._until is not None:
            skips = self._until.skips(gtid) or skips
            if self._until.is_reached:
                self._last_start = self._open.offset
                self._limit_to_last()
        if not skips:
            self._report_skipped()
        self._packer.decide(skips=skips)

    def _report_skipped(self) -> None:
        """After transactions were skipped, let the reader know, once, that they count as read."""
        file, offset = self.position
        if self._skips is None or not self._packer.skips or not self._skips.reports or self._reported == (file, offset):
            return
        self._flush()
        self._reported = (file, offset)
        if isinstance(self._skips, MariadbSkips):
            self._send_event(self._artificial.gtid_list(self._skips.state, offset))
        else:
            self._send_event(self._heartbeat(file, offset))

    def _send_large(self, size: int) -> None:
        """Send an event as it is read. Its checksum is known when it was sent: then the reader has noticed it, too."""
        if self._packer.skips:
            self._skip_bytes(size)
            return
        left, checksum, file, offset = size, 0, *self.position
        for payload in _payload_lengths(size + len(_EVENT_MARK)):
            is_first = left == size
            self._channel.send_bytes(self._channel.packet_header(payload) + (_EVENT_MARK if is_first else b""))
            payload -= len(_EVENT_MARK) if is_first else 0
            while payload and not self._stop.is_set():
                part = self._open.take(payload)
                checksum = crc32(part, checksum)
                self._channel.send_bytes(part)
                payload, left = payload - len(part), left - len(part)
                if not part and self._channel.is_gone(self._logs.poll_seconds):
                    return
        self._idle_since = time.monotonic()
        if self._open.head.format.checksum is ChecksumAlgorithm.CRC32 and checksum != RESIDUE and not left:
            raise errors.damaged((self._start.log.name, self._start.offset), file, offset, mismatch=True)

    def _flush(self) -> None:
        packets = self._packer.take()
        if packets:
            self._channel.send_bytes(packets)
            self._idle_since = time.monotonic()

    def _send_event(self, event: bytes) -> None:
        self._channel.send(_EVENT_MARK + event)
        self._idle_since = time.monotonic()

    def _end(self) -> bool:
        """Send the end to a client that does not wait for more."""
        self._report_skipped()
        self._channel.send(encode_eof())
        return False

    def _end_at_until(self) -> None:
        """Inform a MariaDB replica that the position at which it wants to stop is reached."""
        assert self._until is not None
        self._report_skipped()
        flags = GtidListFlag.UNTIL_REACHED
        self._send_event(self._artificial.gtid_list(self._until.state, self._open.offset, flags))
        self._channel.send(encode_eof())

    # --- Nothing to send ----------------------------------------------------------------------------------------------

    def _wait(self) -> bool:
        """Wait until the archive has grown; return whether to continue."""
        self._report_skipped()
        while not self._stop.is_set():
            if self._channel.is_gone(self._logs.poll_seconds):
                return False
            if self._open.has_grown():
                self._open.reopen()
                return True
            if self._logs.after(self._open.log) is not None:
                return True
            period = self._request.heartbeat_seconds
            if period and time.monotonic() - self._idle_since >= period:
                self._send_event(self._heartbeat(*self.position))
        return False

    def _heartbeat(self, file: str, offset: int) -> bytes:
        if self._family is Family.MYSQL and self._request.flags & DumpFlag.HEARTBEAT_V2:
            return self._artificial.heartbeat_v2(file, offset)
        return self._artificial.heartbeat(file, offset)


def _payload_lengths(total: int) -> list[int]:
    """Return the lengths of the packets of a payload: the last one is shorter than the maximum, if need be empty."""
    return [MAX_PAYLOAD] * (total // MAX_PAYLOAD) + [total % MAX_PAYLOAD]
