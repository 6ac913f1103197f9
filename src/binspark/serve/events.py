"""The events that a source makes for a reader and that are in no file: ROTATE, format description, heartbeat, GTIDs."""

from __future__ import annotations

from zlib import crc32

from binspark.event.codec import encode_body
from binspark.event.heartbeat import Heartbeat, HeartbeatV2
from binspark.event.mariadb import GtidList, GtidListFlag
from binspark.event.rotate import Rotate
from binspark.frames.checksum import checksum_of, with_in_use_flag_clear
from binspark.frames.codes import EventCode, HeaderFlag
from binspark.frames.format import CHECKSUM_LENGTH, LogFormat, description_end
from binspark.frames.header import HEADER_LENGTH, Header, encode_header
from binspark.gtid import MariadbState
from binspark.wire import Writer

_MAX_POSITION = (1 << 32) - 1
_NO_FLAGS = GtidListFlag(0)
_NEXT_POSITION = slice(13, 17)
_CREATED = slice(HEADER_LENGTH + 52, HEADER_LENGTH + 56)


class ArtificialEvents:
    """Makes events for a reader.

    server_id  the server that they are from
    format     the format of the log that is being sent
    checksum   whether they end with a checksum: that of the format, once the reader knows it
    """

    def __init__(self, server_id: int, log_format: LogFormat, *, checksum: bool) -> None:
        self.server_id = server_id
        self.format = log_format
        self.checksum = checksum

    def rotate(self, file: str, offset: int) -> bytes:
        """Return the ROTATE that says which file and offset the next event is from."""
        return self._event(EventCode.ROTATE, Rotate(offset, file), 0, HeaderFlag.ARTIFICIAL)

    def heartbeat(self, file: str, offset: int) -> bytes:
        """Return a heartbeat. MariaDB writes a position past 4 GiB to the body."""
        is_far = offset > _MAX_POSITION
        body = Heartbeat(file, offset if is_far else None)
        return self._event(EventCode.HEARTBEAT, body, 0 if is_far else offset)

    def heartbeat_v2(self, file: str, offset: int) -> bytes:
        """Return a heartbeat for MySQL's replicas since 8.0.26."""
        return self._event(EventCode.HEARTBEAT_V2, HeartbeatV2(file, offset), offset & _MAX_POSITION)

    def gtid_list(self, state: MariadbState, offset: int, flags: GtidListFlag = _NO_FLAGS) -> bytes:
        """Return the GTID_LIST that follows transactions which were skipped: they count as read."""
        body = GtidList(flags, state.gtids)
        return self._event(EventCode.GTID_LIST, body, offset & _MAX_POSITION, HeaderFlag.ARTIFICIAL)

    def _event(self, code: EventCode, body: object, next_position: int, flags: int = 0) -> bytes:
        content = encode_body(code, body, self.format)
        size = HEADER_LENGTH + len(content) + (CHECKSUM_LENGTH if self.checksum else 0)
        writer = Writer()
        encode_header(Header(0, code, self.server_id, size, next_position, flags), 4, writer)
        event = writer.take() + content
        return event + checksum_of(event) if self.checksum else event


def sent_description(event: bytes, *, has_position: bool, has_created: bool) -> bytes:
    """Return the first event of a log as a source sends it: the log is not in use.

    has_position  whether the event after it is sent next; otherwise its position does not count
    has_created   whether it may say that the server has just started, which ends the temporary tables of a replica
    """
    event = with_in_use_flag_clear(event)
    if has_position and has_created:
        return event
    changed = bytearray(event)
    if not has_position:
        changed[_NEXT_POSITION] = bytes(4)
    changed[_CREATED] = bytes(4)
    end = description_end(event)
    if end < len(event):
        changed[end:] = crc32(changed[:end]).to_bytes(CHECKSUM_LENGTH, "little")
    return bytes(changed)
