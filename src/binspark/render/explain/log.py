"""Explain a log: all events, or selected ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from binspark.errors import DecodeError, OptionError, SourceError, Unsupported
from binspark.event import TransactionPayload
from binspark.files import LogSource
from binspark.files.sources import OnePath, find_logs
from binspark.frames import MAGIC, EventCode, Frame, Framer
from binspark.frames.payload import DEFAULT_LIMITS, Limits, payload_frames
from binspark.os_errors import describe_os_error
from binspark.position import Position
from binspark.render.explain.explanation import Explanation, explain_damage, explain_frame, explain_magic
from binspark.render.explain.rows import KnownTables

_CHUNK = 1 << 18
# How many bytes of damage are shown where its size is not known.
_MAX_DAMAGE = 4096
_SIZE = slice(9, 13)


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
        """Whether no condition is set."""
        return self == Selection()

    def takes(self, frame: Frame) -> bool:
        """Return whether a frame has the selected type and number."""
        of_type = not self.types or frame.type_code in self.types
        return of_type and self.inner in (None, frame.inner)

    def opens(self, frame: Frame) -> bool:
        """Return whether the events inside a frame are selected."""
        is_payload = frame.type_code == EventCode.TRANSACTION_PAYLOAD
        return is_payload and (self.at is None or self.inner is not None)


_ALL = Selection()


def explain_log(
    source: LogSource, selection: Selection = _ALL, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Explanation]:
    """Yield explanations in the order of the log. Damage that ends the log is always explained, selected or not."""
    shown = end = 0
    explain = _Explainer(source.name, selection, limits)
    for item in _items(source):
        end = item.end_offset if isinstance(item, Frame) else item.end_pos
        ends_the_log = isinstance(item, Explanation) and item.damaged
        if isinstance(item, Frame):
            explain.tables.note(item)
        if selection.at is not None and end <= selection.at and not ends_the_log:
            continue
        for explanation in explain.item(item):
            yield explanation
            shown += 1
        if selection.at is not None:
            break
    if not shown:
        _refuse(selection, source.name, end)


def explain(path: OnePath, at: int | None = None) -> Iterator[Explanation]:
    """Yield what every byte of a log means, event by event; with `at`, of the event that this offset is in.

    >>> next(binspark.explain("binlog.000001", at=198)).fields  # doctest: +SKIP
    """
    for source in find_logs(path):
        yield from explain_log(source, Selection(at=at))


class _Explainer:
    """Explains the selected events of one log, with the tables that the events before them describe."""

    def __init__(self, file: str, selection: Selection, limits: Limits) -> None:
        self.tables = KnownTables(file)
        self._file = file
        self._selection = selection
        self._limits = limits

    def item(self, item: Frame | Explanation) -> Iterator[Explanation]:
        """Yield the explanations of an event and of the events inside it, if they are selected."""
        selection = self._selection
        if isinstance(item, Explanation):
            if item.damaged or selection.everything or selection.at is not None:
                yield item
            return
        taken, opened = selection.takes(item), selection.opens(item)
        if not taken and not opened:
            return
        explanation = explain_frame(item, self._file, limits=self._limits, tables=self.tables)
        if taken:
            yield explanation
        if opened:
            yield from self._inner(explanation)

    def _inner(self, outer: Explanation) -> Iterator[Explanation]:
        """Yield the selected events inside a payload; if it was not decoded, its own explanation has the error."""
        if outer.event is None:
            return
        payload: TransactionPayload = outer.event.body
        parts = (payload.payload, payload.compression_type, payload.uncompressed_size)
        base = 0
        try:
            for frame in payload_frames(outer.event.frame, *parts, self._limits):
                self.tables.note(frame)
                if self._selection.takes(frame):
                    yield self._inside(frame, base)
                base += len(frame.data)
        except DecodeError as error:
            where = (outer.file, outer.pos, outer.end_pos)
            yield Explanation(*where, outer.type, outer.type_code, (), error=error.message)

    def _inside(self, frame: Frame, base: int) -> Explanation:
        explanation = explain_frame(frame, self._file, base, self._limits, self.tables)
        if frame.type_code == EventCode.TRANSACTION_PAYLOAD:
            return replace(explanation, error="a transaction payload inside a transaction payload")
        return explanation


def _items(source: LogSource) -> Iterator[Frame | Explanation]:
    """Yield the magic number, the frames, and the damage that ends the log."""
    framer = Framer(report_checksums=True)
    recent = _RecentBytes()
    magic_end = 0
    try:
        with source.open() as file:
            while chunk := file.read(_CHUNK):
                if not magic_end and chunk.startswith(MAGIC):
                    yield explain_magic(source.name)
                    magic_end = len(MAGIC)
                recent.add(chunk)
                yield from framer.feed(chunk)
                recent.drop_before(framer.offset)
        framer.finish()
    except DecodeError as error:
        offset = max(framer.offset, magic_end)
        data = _damaged_bytes(recent.since(offset), framer, error)
        yield explain_damage(data, offset, error, framer.format, source.name)
    except OSError as error:
        raise SourceError(describe_os_error(error), Position(source.name, framer.offset)) from None


def _damaged_bytes(data: bytes, framer: Framer, error: DecodeError) -> bytes:
    """Return the bytes of the damaged event, or the first bytes if the header cannot be read."""
    size = int.from_bytes(data[_SIZE], "little")
    if framer.format is None or isinstance(error, Unsupported) or size < framer.format.header_length:
        return data[:_MAX_DAMAGE]
    return data[:size]


class _RecentBytes:
    """The bytes that the framer has not yet turned into frames."""

    def __init__(self) -> None:
        self.start = 0
        self._chunks: deque[bytes] = deque()

    def add(self, chunk: bytes) -> None:
        self._chunks.append(chunk)

    def drop_before(self, offset: int) -> None:
        """Drop chunks that end before an offset."""
        while self._chunks and self.start + len(self._chunks[0]) <= offset:
            self.start += len(self._chunks.popleft())

    def since(self, offset: int) -> bytes:
        """Return the bytes from an offset to the end of what was read."""
        return b"".join(self._chunks)[offset - self.start :]


def _refuse(selection: Selection, file: str, end: int) -> None:
    """Raise an error if the position or the number that was selected does not exist."""
    if selection.at is not None and selection.at >= end:
        raise OptionError(
            f"position {selection.at} is past the end of the log, which has {end} bytes", Position(file=file)
        )
    if selection.inner is not None:
        raise OptionError(f"no transaction payload has an event with number {selection.inner}", Position(file=file))
