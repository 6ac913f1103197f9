"""Events that are damaged where mysqlbinlog does not read them: it prints the rest of them, and continues."""

from __future__ import annotations

from binspark.dump.dumper import Warn
from binspark.errors import DecodeError
from binspark.event import Context, Event, EventDecoder
from binspark.frames import EventCode, Frame
from binspark.wire import Cursor


class TolerantDecoder:
    """Decodes events as far as mysqlbinlog needs them; what is wrong with one is a warning then."""

    def __init__(self, file: str, warn: Warn) -> None:
        self._decoder = EventDecoder(file)
        self._warn = warn

    def decode(self, frame: Frame) -> Event:
        """Decode the body of a frame. That of PREVIOUS_GTIDS is None if it is damaged."""
        try:
            return self._decoder.decode(frame)
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
