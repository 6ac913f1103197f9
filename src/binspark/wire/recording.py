"""A cursor that records which bytes it read as which field: everything that `binspark explain` shows comes from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeVar

from binspark.wire.cursor import Cursor
from binspark.wire.layout import Layout
from binspark.wire.meaning import Meaning, as_padded_text, as_text, note

T = TypeVar("T")

_ENDS_TEXT = note("ends the text before it")

# Meanings for bytes that are text: the recorded value is the text.
_TEXTS = {as_text: "text", as_padded_text: "zero-padded text"}


@dataclass(frozen=True, slots=True)
class Span:
    """One field as it was read: its offset in the event, name, type, value and meaning."""

    offset: int
    length: int
    name: str
    kind: str
    value: Any
    meaning: str

    @property
    def end(self) -> int:
        """The offset after the last byte of the field."""
        return self.offset + self.length


class RecordingCursor(Cursor):
    """Reads like a cursor and records a span for every field."""

    __slots__ = ("path", "spans")

    def __init__(self, data: bytes, offset: int = 0, end: int | None = None, encoding: str = "utf-8") -> None:
        super().__init__(data, offset, end, encoding)
        self.spans: list[Span] = []
        self.path: list[str] = []

    def fields(self, layout: Layout) -> tuple[Any, ...]:
        start = self.offset
        values = super().fields(layout)
        columns = zip(layout.names, layout.sizes, layout.kinds, layout.meanings, values, strict=True)
        for name, size, kind, meaning, value in columns:
            self._record(start, start + size, name, kind, value, meaning)
            start += size
        return values

    def u8(self, name: str, meaning: Meaning = None) -> int:
        return self._recorded(self.offset, super().u8(name), name, "uint8", meaning)

    def u16(self, name: str, meaning: Meaning = None) -> int:
        return self._recorded(self.offset, super().u16(name), name, "uint16", meaning)

    def u32(self, name: str, meaning: Meaning = None) -> int:
        return self._recorded(self.offset, super().u32(name), name, "uint32", meaning)

    def u64(self, name: str, meaning: Meaning = None) -> int:
        return self._recorded(self.offset, super().u64(name), name, "uint64", meaning)

    def i64(self, name: str, meaning: Meaning = None) -> int:
        return self._recorded(self.offset, super().i64(name), name, "int64", meaning)

    def f64(self, name: str, meaning: Meaning = None) -> float:
        return self._recorded(self.offset, super().f64(name), name, "double", meaning)

    def uint(self, name: str, length: int, meaning: Meaning = None) -> int:
        return self._recorded(self.offset, super().uint(name, length), name, _fixed_kind(length), meaning)

    def uint_be(self, name: str, length: int, meaning: Meaning = None) -> int:
        kind = f"{_fixed_kind(length)}, big-endian"
        return self._recorded(self.offset, super().uint_be(name, length), name, kind, meaning)

    def packed(self, name: str, meaning: Meaning = None) -> int:
        return self._recorded(self.offset, super().packed(name), name, "packed integer", meaning)

    def varlen(self, name: str, meaning: Meaning = None) -> int:
        return self._recorded(self.offset, super().varlen(name), name, "varlen integer", meaning)

    def signed_varlen(self, name: str, meaning: Meaning = None) -> int:
        return self._recorded(self.offset, super().signed_varlen(name), name, "signed varlen integer", meaning)

    def raw(self, name: str, length: int, meaning: Meaning = None) -> bytes:
        return self._recorded_bytes(self.offset, super().raw(name, length), name, meaning)

    def rest(self, name: str, meaning: Meaning = None) -> bytes:
        return self._recorded_bytes(self.offset, super().rest(name), name, meaning)

    def text(self, name: str, length: int, meaning: Meaning = None) -> str:
        return self._recorded(self.offset, super().text(name, length), name, "text", meaning)

    def rest_text(self, name: str, meaning: Meaning = None) -> str:
        return self._recorded(self.offset, super().rest_text(name), name, "text", meaning)

    def until_zero(self, name: str, meaning: Meaning = None) -> str:
        return self._recorded(self.offset, super().until_zero(name), name, "zero-terminated text", meaning)

    def zero(self, name: str) -> None:
        start = self.offset
        super().zero(name)
        self._record(start, self.offset, name, "uint8", 0, _ENDS_TEXT)

    def uuid(self, name: str, meaning: Meaning = None) -> str:
        return self._recorded(self.offset, super().uuid(name), name, "uuid", meaning)

    def enter(self, name: str, index: int | None = None) -> None:
        self.path.append(name if index is None else f"{name}[{index}]")

    def leave(self) -> None:
        self.path.pop()

    def _over(self, start: int, end: int) -> Self:
        part = super()._over(start, end)
        part.spans = self.spans
        part.path = self.path
        return part

    def _recorded(self, start: int, value: T, name: str, kind: str, meaning: Meaning) -> T:
        self._record(start, self.offset, name, kind, value, meaning)
        return value

    def _recorded_bytes(self, start: int, value: bytes, name: str, meaning: Meaning) -> bytes:
        if meaning in _TEXTS:
            self._record(start, self.offset, name, _TEXTS[meaning], meaning(value), None)
            return value
        return self._recorded(start, value, name, "bytes", meaning)

    def _record(self, start: int, end: int, name: str, kind: str, value: Any, meaning: Meaning) -> None:
        if start == end:
            return
        full_name = ".".join([*self.path, name])
        words = meaning(value) if meaning else ""
        self.spans.append(Span(start, end - start, full_name, kind, value, words))


def _fixed_kind(size: int) -> str:
    return f"uint{8 * size}" if size <= 8 else "bytes"
