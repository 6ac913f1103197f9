"""Frames into events and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from binspark.errors import DecodeError, Malformed
from binspark.event.context import Context
from binspark.event.event import Event
from binspark.event.registry import CODECS, UNKNOWN
from binspark.frames import EventCode, Frame, LogFormat, type_name
from binspark.frames.payload import DEFAULT_LIMITS, Limits, payload_frames
from binspark.position import Position
from binspark.wire import Cursor, Writer

if TYPE_CHECKING:
    from binspark.event.payload import TransactionPayload

_Prepared = tuple[Callable[[Cursor, Context], Any], Context]
_new_event = tuple.__new__


class EventDecoder:
    """Decodes the frames of one log. What depends only on the format of the log is prepared once for each type."""

    def __init__(self, file: str = "", limits: Limits = DEFAULT_LIMITS) -> None:
        self.file = file
        self.limits = limits
        self._format: LogFormat | None = None
        self._prepared: dict[int, _Prepared] = {}

    def decode(self, frame: Frame) -> Event:
        """Decode the body of a frame."""
        log_format = frame.format
        if log_format is not self._format:
            self._format, self._prepared = log_format, {}
        decode, context = self._prepared.get(frame.type_code) or self._prepare(frame.type_code, log_format)
        body = Cursor(frame.data, frame.body_start, frame.body_end, log_format.encoding)
        try:
            decoded = decode(body, context)
        except DecodeError as error:
            raise _at_frame(error, frame, self.file) from None
        extra = body.rest("extra") if body.offset != body.end else b""
        return _new_event(Event, (frame, decoded, self.file, extra))

    def inner_events(self, event: Event) -> Iterator[Event]:
        """Yield the events inside a TRANSACTION_PAYLOAD, one at a time."""
        decoder = EventDecoder(self.file, self.limits)
        for frame in self.inner_frames(event):
            try:
                yield decoder.decode(frame)
            except DecodeError as error:
                raise error.at(event.position) from None

    def inner_frames(self, event: Event) -> Iterator[Frame]:
        """Yield the frames inside a TRANSACTION_PAYLOAD, one at a time."""
        payload: TransactionPayload = event.body
        try:
            for frame in payload_frames(
                event.frame, payload.payload, payload.compression_type, payload.uncompressed_size, self.limits
            ):
                if frame.type_code == EventCode.TRANSACTION_PAYLOAD:
                    raise Malformed("a transaction payload inside a transaction payload")
                yield frame
        except DecodeError as error:
            raise error.at(event.position) from None

    def _prepare(self, type_code: int, log_format: LogFormat) -> _Prepared:
        codec = CODECS.get(type_code, UNKNOWN)
        prepared = (codec.decode, Context.of(type_code, log_format, self.limits))
        self._prepared[type_code] = prepared
        return prepared


def decode_event(frame: Frame, file: str = "", limits: Limits = DEFAULT_LIMITS) -> Event:
    """Decode the body of one frame."""
    return EventDecoder(file, limits).decode(frame)


def inner_events(event: Event, limits: Limits = DEFAULT_LIMITS) -> Iterator[Event]:
    """Yield the events inside one TRANSACTION_PAYLOAD."""
    return EventDecoder(event.file, limits).inner_events(event)


def decode_body(body: Cursor, frame: Frame, file: str = "", limits: Limits = DEFAULT_LIMITS) -> Any:
    """Decode a body with a cursor of the caller, for example one that records."""
    codec = CODECS.get(frame.type_code, UNKNOWN)
    try:
        return codec.decode(body, Context.of(frame.type_code, frame.format, limits))
    except DecodeError as error:
        raise _at_frame(error, frame, file) from None


def encode_body(type_code: int, body: Any, log_format: LogFormat, extra: bytes = b"") -> bytes:
    """Return the bytes of an event's body."""
    writer = Writer(log_format.encoding)
    codec = CODECS.get(type_code, UNKNOWN)
    codec.encode(body, writer, Context.of(type_code, log_format))
    writer.raw(extra)
    return writer.take()


def _at_frame(error: DecodeError, frame: Frame, file: str) -> DecodeError:
    """Return the error with the position of the event, and with the byte of the event in its message."""
    byte = error.position.offset
    message = error.message if byte is None else f"{error.message} (byte {byte} of the event)"
    inside = "" if frame.inner is None else f"event {frame.inner} inside TRANSACTION_PAYLOAD: "
    position = Position(file=file or None, offset=frame.offset, event=type_name(frame.type_code))
    return type(error)(inside + message, position)
