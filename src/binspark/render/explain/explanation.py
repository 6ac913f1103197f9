"""Explain every byte of an event: the name of its field, the value, and what it means.

The decoders themselves produce this, with a cursor that records what they read; no layout is described twice. The
result is a value, which `render.explain.text` and `render.explain.json` format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Any
from zlib import crc32

from binspark.errors import DecodeError, Unsupported
from binspark.event import Event, Rows, decode_body
from binspark.frames import MAGIC, ChecksumState, EventCode, Frame, HeaderFlag, LogFormat, type_name
from binspark.frames.checksum import with_in_use_flag_clear
from binspark.frames.format import CHECKSUM_LENGTH
from binspark.frames.header import decode_header
from binspark.frames.payload import DEFAULT_LIMITS, Limits
from binspark.html_table import html_table
from binspark.render.explain.absence import AbsentField, absent_fields, clear_flags
from binspark.render.explain.meanings import plain_meaning
from binspark.render.explain.rows import KnownTables, with_row_images
from binspark.render.summary import summarize
from binspark.wire import RecordingCursor, Span
from binspark.wire.packed import decode_varlen, unsigned_to_signed

_ROW_IMAGES = ("row[", "rows_rest")
_VARLEN_OF_8_BYTES = 0xFF  # its value is the next 8 bytes: nothing to shift


def spell_out(kind: str, data: bytes) -> str:
    """Return how bytes make a value of this kind; empty for kinds that need no explanation."""
    spell = _SPELLINGS.get(kind)
    return spell(data) if spell else ""


def _packed(data: bytes) -> str:
    """Spell out a packed integer: `0xfc: the next 2 bytes are 0x0105 = 261`."""
    if len(data) == 1:
        return ""
    return _following(data)


def _varlen(data: bytes) -> str:
    """Spell out a varlen integer: `0b…01: 2 bytes, 0x0ae1 >> 2 = 696`."""
    value = decode_varlen(data)
    if len(data) == 1:
        return f"0x{data[0]:02x} >> 1 = {value}"
    if data[0] == _VARLEN_OF_8_BYTES:
        return _following(data)
    packed = int.from_bytes(data, "little")
    low_bits = "0" + "1" * (len(data) - 1)
    return f"0b…{low_bits}: {len(data)} bytes, 0x{packed:0{2 * len(data)}x} >> {len(data)} = {value}"


def _signed_varlen(data: bytes) -> str:
    """Spell out a signed varlen integer, whose lowest bit is the sign."""
    folded = decode_varlen(data)
    value = unsigned_to_signed(folded)
    unfolded = f"~({folded} >> 1)" if folded & 1 else f"{folded} >> 1"
    return f"{_varlen(data)}; sign bit {folded & 1}, {unfolded} = {value}"


def _following(data: bytes) -> str:
    tail = data[1:]
    value = int.from_bytes(tail, "little")
    return f"0x{data[0]:02x}: the next {len(tail)} bytes are 0x{value:0{2 * len(tail)}x} = {value}"


_SPELLINGS: dict[str, Callable[[bytes], str]] = {
    "packed integer": _packed,
    "varlen integer": _varlen,
    "signed varlen integer": _signed_varlen,
}


MAGIC_TYPE = "MAGIC"
DAMAGED_TYPE = "DAMAGED"


class Section(StrEnum):
    """The parts of an event."""

    MAGIC = "magic"
    HEADER = "header"
    POST_HEADER = "post-header"
    BODY = "body"
    ROWS = "rows"
    EXTRA = "extra"
    UNDECODED = "undecoded"
    CHECKSUM = "checksum"


@dataclass(frozen=True, slots=True)
class Field:
    """Some bytes, and their meaning. The offset is that in the file, or in the decompressed payload."""

    section: Section
    offset: int
    data: bytes
    name: str
    kind: str
    value: Any
    meaning: str

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.offset + len(self.data)


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explained event, magic number or damage: its fields cover every byte once, in order.

    pos, end_pos   the offsets in the file; those of the TRANSACTION_PAYLOAD for an event inside one
    inner          the number of an event inside a payload
    event          None if the body cannot be decoded
    error          why it cannot be decoded
    """

    file: str
    pos: int
    end_pos: int
    type: str
    type_code: int | None
    fields: tuple[Field, ...]
    checksum: ChecksumState = ChecksumState.NONE
    error: str | None = None
    inner: int | None = None
    summary: str = ""
    event: Event | None = None

    @property
    def damaged(self) -> bool:
        """Whether the body cannot be decoded, or the checksum does not match."""
        return self.error is not None or self.checksum is ChecksumState.BAD

    def _repr_html_(self) -> str:
        """Return the fields as a table, for notebooks."""
        rows = ((field.offset, field.data, field.name, field.value, field.meaning) for field in self.fields)
        return html_table(
            ("offset", "bytes", "field", "value", "meaning"), rows, f"{self.type} at {self.file}:{self.pos}"
        )

    def sections(self) -> Iterator[tuple[Section, tuple[Field, ...]]]:
        """Yield the fields section by section."""
        for section, fields in groupby(self.fields, key=lambda field: field.section):
            yield section, tuple(fields)


def explain_frame(
    frame: Frame,
    file: str = "",
    base: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    tables: KnownTables | None = None,
    max_row_fields: int | None = None,
) -> Explanation:
    """Explain an event. `base` is the offset of its first byte, if that is not the frame's own.

    With `tables`, row images are explained down to each value; of very many, up to `max_row_fields`.
    """
    header = RecordingCursor(frame.data, 0, frame.body_start, frame.format.encoding)
    decode_header(header, frame.format.version)
    body = RecordingCursor(frame.data, frame.body_start, frame.body_end, frame.format.encoding)
    event, summary, error = None, "", None
    try:
        event = Event(frame, decode_body(body, frame, file, limits), file)
        summary = summarize(event)  # raises if the parts of a GTID are not valid
    except DecodeError as refused:
        event, error = None, refused.message
    spans = _Spans(frame.data, frame.offset if base is None else base)
    spans.add(Section.HEADER, _with_clear_flags(_with_current_name(header.spans, frame), frame, None))
    spans.fill(frame.body_start, Section.HEADER, "header_rest", "")
    decoded = None if event is None else event.body
    fields = _with_clear_flags(body.spans, frame, decoded)
    if isinstance(decoded, Rows) and tables is not None:
        fields = with_row_images(fields, frame, decoded, tables.table_of(decoded), max_row_fields)
    for section, part in _body_sections(fields, frame):
        spans.add(section, part)
    for absent in absent_fields(decoded, [span.name for span in body.spans]):
        spans.add_absent(absent)
    if error is None:
        spans.fill(frame.body_end, Section.EXTRA, "extra", "bytes after the last known field")
    else:
        spans.fill(frame.body_end, Section.UNDECODED, "undecoded", error)
    spans.add(Section.CHECKSUM, _checksum_span(frame))
    return Explanation(
        file=file,
        pos=frame.offset,
        end_pos=frame.end_offset,
        type=type_name(frame.type_code),
        type_code=frame.type_code,
        fields=tuple(spans.fields),
        checksum=frame.checksum,
        error=error,
        inner=frame.inner,
        summary=summary,
        event=event,
    )


def explain_magic(file: str = "") -> Explanation:
    """Explain the magic number with which every log begins."""
    field = Field(Section.MAGIC, 0, MAGIC, "magic", "bytes", MAGIC, "the file is a binary log")
    return Explanation(file, 0, len(MAGIC), MAGIC_TYPE, None, (field,))


def explain_damage(
    data: bytes, offset: int, error: DecodeError, log_format: LogFormat | None, file: str = ""
) -> Explanation:
    """Explain bytes that are not an event: the header, if they begin with one, and the rest as undecoded."""
    spans = _Spans(data, offset)
    type_code = None
    if log_format is not None and not isinstance(error, Unsupported) and len(data) >= log_format.header_length:
        cursor = RecordingCursor(data)
        type_code = log_format.current_code(decode_header(cursor, log_format.version).type_code)
        spans.add(Section.HEADER, cursor.spans)
    spans.fill(len(data), Section.UNDECODED, "undecoded", error.message)
    name = DAMAGED_TYPE if type_code is None else type_name(type_code)
    return Explanation(
        file, offset, offset + len(data), name, type_code, tuple(spans.fields), ChecksumState.NONE, error.message
    )


class _Spans:
    """Collects recorded spans as fields, and adds fields for the bytes between them."""

    def __init__(self, data: bytes, base: int) -> None:
        self.fields: list[Field] = []
        self._data = data
        self._base = base
        self._end = 0

    def add(self, section: Section, spans: list[Span]) -> None:
        """Append fields; bytes that were skipped before one of them become a field, too."""
        for span in spans:
            self.fill(span.offset, section, "unclaimed", "")
            self._append(section, span)

    def add_absent(self, field: AbsentField) -> None:
        """Append a field that has no bytes."""
        end = self._base + self._end
        self.fields.append(Field(Section.BODY, end, b"", field.name, "absent", None, f"absent: {field.meaning}"))

    def fill(self, end: int, section: Section, name: str, meaning: str) -> None:
        """Append the bytes up to `end` as one field."""
        start = self._end
        if start < end:
            self._append(section, Span(start, end - start, name, "bytes", self._data[start:end], meaning))

    def _append(self, section: Section, span: Span) -> None:
        data = self._data[span.offset : span.end]
        meaning = "; ".join(words for words in (spell_out(span.kind, data), span.meaning) if words)
        meaning = meaning or plain_meaning(span.name)
        self.fields.append(Field(section, self._base + span.offset, data, span.name, span.kind, span.value, meaning))
        self._end = span.end


def _with_current_name(spans: list[Span], frame: Frame) -> list[Span]:
    """Return the spans with the type that a pre-release means, whose type codes differ."""
    if frame.type_code == frame.header.type_code:
        return spans
    meaning = f"{type_name(frame.type_code)}, in the type codes of this server"
    return [replace(span, meaning=meaning) if span.name == "type_code" else span for span in spans]


def _body_sections(spans: list[Span], frame: Frame) -> list[tuple[Section, list[Span]]]:
    """Split off the post-header, if a field ends at the post-header length of the log."""
    boundary = frame.body_start + frame.format.post_header_length(frame.type_code)
    images = [span for span in spans if span.name.startswith(_ROW_IMAGES)]
    others = spans[: len(spans) - len(images)]
    post_header = [span for span in others if span.end <= boundary]
    if not post_header or post_header[-1].end != boundary:
        return [(Section.BODY, others), (Section.ROWS, images)]
    body = others[len(post_header) :]
    return [(Section.POST_HEADER, post_header), (Section.BODY, body), (Section.ROWS, images)]


def _with_clear_flags(spans: list[Span], frame: Frame, body: object) -> list[Span]:
    """Return the spans with what it means that some of their flags are clear."""
    return [
        replace(span, meaning=f"{span.meaning}; {clear}" if span.meaning else clear)
        if (clear := clear_flags(frame.type_code, body, span.name, span.value))
        else span
        for span in spans
    ]


def _checksum_span(frame: Frame) -> list[Span]:
    if frame.body_end == len(frame.data):
        return []
    stored = int.from_bytes(frame.data[frame.body_end :], "little")
    covered = frame.data
    note = ""
    if frame.type_code == EventCode.FORMAT_DESCRIPTION and frame.header.flags & HeaderFlag.BINLOG_IN_USE:
        covered = with_in_use_flag_clear(covered)
        note = ", with BINLOG_IN_USE clear"
    computed = f"0x{crc32(covered[: frame.body_end]):08x}{note}"
    verdict = f"{frame.checksum.value}: stored 0x{stored:08x}, computed {computed}"
    return [Span(frame.body_end, CHECKSUM_LENGTH, "checksum", "crc32", stored, verdict)]
