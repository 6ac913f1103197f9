"""The explanations of a log: all of them, or those of some events."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from binspark.errors import DecodeError, OptionError, SourceError, Unsupported
from binspark.event import TransactionPayload
from binspark.files import LogSource
from binspark.frames import MAGIC, EventCode, Frame, Framer
from binspark.frames.payload import DEFAULT_LIMITS, Limits, payload_frames
from binspark.os_errors import describe_os_error
from binspark.position import Position
from binspark.render.explain.explanation import Explanation, explain_damage, explain_frame, explain_magic

_CHUNK = 1 << 18
# Where nothing tells how long damage is, this much of it is shown.
_SHOWN_DAMAGE = 4096
_SIZE_AT = slice(9, 13)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which events are explained; an event must meet every condition that is set.

    at     the event that this offset is in, without those inside it
    types  events of these type codes
    inner  the events of this number inside transaction payloads, counted from 0
    """

    at: int | None = None
    types: frozenset[int] = frozenset()
    inner: int | None = None

    @property
    def everything(self) -> bool:
        return self == Selection()

    def takes(self, frame: Frame) -> bool:
        """Tell whether a frame has the right type and number."""
        of_type = not self.types or frame.type_code in self.types
        return of_type and self.inner in (None, frame.inner)

    def opens(self, frame: Frame) -> bool:
        """Tell whether the events inside a frame are asked for."""
        is_payload = frame.type_code == EventCode.TRANSACTION_PAYLOAD
        return is_payload and (self.at is None or self.inner is not None)


_ALL = Selection()


def explain_log(
    source: LogSource, selection: Selection = _ALL, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Explanation]:
    """Yield explanations in the order of the log. Damage that ends the log is explained too, whatever is selected."""
    shown = end = 0
    for piece in _pieces(source):
        end = piece.end_offset if isinstance(piece, Frame) else piece.end_pos
        ends_the_log = isinstance(piece, Explanation) and piece.damaged
        if selection.at is not None and end <= selection.at and not ends_the_log:
            continue
        for explanation in _explain_piece(piece, source.name, selection, limits):
            yield explanation
            shown += 1
        if selection.at is not None:
            break
    if not shown:
        _refuse(selection, source.name, end)


def _explain_piece(
    piece: Frame | Explanation, file: str, selection: Selection, limits: Limits
) -> Iterator[Explanation]:
    if isinstance(piece, Explanation):
        if piece.damaged or selection.everything or selection.at is not None:
            yield piece
        return
    taken, opened = selection.takes(piece), selection.opens(piece)
    if not taken and not opened:
        return
    explanation = explain_frame(piece, file, limits=limits)
    if taken:
        yield explanation
    if opened:
        yield from _explain_inner(explanation, selection, limits)


def _explain_inner(outer: Explanation, selection: Selection, limits: Limits) -> Iterator[Explanation]:
    """Yield the events inside a payload that are asked for; a payload that cannot be opened has said so itself."""
    if outer.event is None:
        return
    payload: TransactionPayload = outer.event.body
    parts = (payload.payload, payload.compression_type, payload.uncompressed_size)
    base = 0
    try:
        for frame in payload_frames(outer.event.frame, *parts, limits):
            if selection.takes(frame):
                yield _explain_inside(frame, outer.file, base, limits)
            base += len(frame.data)
    except DecodeError as error:
        yield Explanation(outer.file, outer.pos, outer.end_pos, outer.type, outer.type_code, (), error=error.message)


def _explain_inside(frame: Frame, file: str, base: int, limits: Limits) -> Explanation:
    explanation = explain_frame(frame, file, base, limits)
    if frame.type_code == EventCode.TRANSACTION_PAYLOAD:
        return replace(explanation, error="a transaction payload inside a transaction payload")
    return explanation


def _pieces(source: LogSource) -> Iterator[Frame | Explanation]:
    """Yield the magic, the frames, and what stands where a frame should."""
    framer = Framer(report_checksums=True)
    held = _Held()
    magic_end = 0
    try:
        with source.open() as file:
            while chunk := file.read(_CHUNK):
                if not magic_end and chunk.startswith(MAGIC):
                    yield explain_magic(source.name)
                    magic_end = len(MAGIC)
                held.add(chunk)
                yield from framer.feed(chunk)
                held.drop_before(framer.offset)
        framer.finish()
    except DecodeError as error:
        offset = max(framer.offset, magic_end)
        data = _damaged_bytes(held.since(offset), framer, error)
        yield explain_damage(data, offset, error, framer.format, source.name)
    except OSError as error:
        raise SourceError(describe_os_error(error), Position(source.name, framer.offset)) from None


def _damaged_bytes(data: bytes, framer: Framer, error: DecodeError) -> bytes:
    """Return as many bytes as belong to the damage: those of the event, if there is one, else the first ones."""
    size = int.from_bytes(data[_SIZE_AT], "little")
    if framer.format is None or isinstance(error, Unsupported) or size < framer.format.header_length:
        return data[:_SHOWN_DAMAGE]
    return data[:size]


class _Held:
    """The bytes that the framer may still refuse."""

    def __init__(self) -> None:
        self.start = 0
        self._chunks: deque[bytes] = deque()

    def add(self, chunk: bytes) -> None:
        self._chunks.append(chunk)

    def drop_before(self, offset: int) -> None:
        """Forget whole chunks before an offset."""
        while self._chunks and self.start + len(self._chunks[0]) <= offset:
            self.start += len(self._chunks.popleft())

    def since(self, offset: int) -> bytes:
        """Return the bytes from an offset on, as far as they were read."""
        return b"".join(self._chunks)[offset - self.start :]


def _refuse(selection: Selection, file: str, end: int) -> None:
    """Say why nothing was found, where the caller asked for a thing that is not there."""
    if selection.at is not None and selection.at >= end:
        raise OptionError(f"{selection.at} is past the end of the log, which has {end} bytes", Position(file=file))
    if selection.inner is not None:
        raise OptionError(f"no transaction payload holds an event of number {selection.inner}", Position(file=file))
