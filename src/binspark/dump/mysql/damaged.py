"""Events that are damaged: mysqlbinlog prints the rest of some of them and continues, and ends at others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from binspark.dump.dumper import Warn
from binspark.errors import DecodeError, Malformed
from binspark.event import Context, Event, EventDecoder
from binspark.frames import EventCode, Frame
from binspark.frames.payload import PayloadCompression
from binspark.wire import Cursor

if TYPE_CHECKING:  # the classes of events are loaded with the first event of a type
    from binspark.event import Incident, TransactionPayload

_LOST_EVENTS = 1


def _is_valid_incident(body: Incident) -> bool:
    return body.incident == _LOST_EVENTS


def _is_valid_payload(body: TransactionPayload) -> bool:
    return body.compression_type in PayloadCompression._value2member_map_


_IS_VALID: dict[int, Callable[[Any], bool]] = {
    EventCode.INCIDENT: _is_valid_incident,
    EventCode.TRANSACTION_PAYLOAD: _is_valid_payload,
}


class TolerantDecoder:
    """Decodes events as far as mysqlbinlog needs them; what is wrong with one is a warning then."""

    def __init__(self, file: str, warn: Warn) -> None:
        self._decoder = EventDecoder(file)
        self._warn = warn

    def decode(self, frame: Frame) -> Event:
        """Decode the body of a frame. That of PREVIOUS_GTIDS is None if it is damaged."""
        try:
            event = self._decoder.decode(frame)
            if frame.type_code in _IS_VALID and not _IS_VALID[frame.type_code](event.body):
                raise Malformed(f"mysqlbinlog does not accept these values: {event.body}", event.position)
            return event
        except DecodeError as error:
            if frame.type_code not in (EventCode.PREVIOUS_GTIDS, EventCode.TABLE_MAP):
                raise
            event = Event(frame, None, self._decoder.file)
            if frame.type_code == EventCode.TABLE_MAP:
                event = event._replace(body=self._table_map(frame, error))
            self._warn(str(error))
            return event

    def _table_map(self, frame: Frame, error: DecodeError) -> object:
        """Return a table map without its optional metadata; raise the error if that is not what is wrong."""
        from binspark.event.table_map import decode_without_metadata

        body = Cursor(frame.data, frame.body_start, frame.body_end, frame.format.encoding)
        try:
            return decode_without_metadata(body, Context.of(frame.type_code, frame.format))
        except DecodeError:
            raise error from None
