"""LOAD DATA as MySQL 3.23 to 4.1 logged it (LOAD, NEW_LOAD, CREATE_FILE, EXEC_LOAD), and the blocks of its file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from binspark.event.context import Context, SqlText
from binspark.frames import EventCode
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import as_text, flags


class LoadOption(IntFlag):
    """The options of LOAD DATA."""

    DUMPFILE = 0x01
    OPTIONALLY_ENCLOSED = 0x02
    REPLACE = 0x04
    IGNORE = 0x08


class EmptyOption(IntFlag):
    """Which separators are empty: needed in the old form only, which stores exactly one byte for each."""

    FIELD_TERMINATED = 0x01
    ENCLOSED = 0x02
    LINE_TERMINATED = 0x04
    LINE_STARTED = 0x08
    ESCAPED = 0x10


@dataclass(frozen=True, slots=True)
class Separators:
    """The separators of fields and lines in the file. `empty_flags` is None in the new form."""

    field_terminator: SqlText
    enclosed_by: SqlText
    line_terminator: SqlText
    line_start: SqlText
    escaped_by: SqlText
    options: int = 0
    empty_flags: int | None = None

    @property
    def texts(self) -> tuple[bytes, ...]:
        """The separators in the order in which they are stored."""
        return self.field_terminator, self.enclosed_by, self.line_terminator, self.line_start, self.escaped_by


@dataclass(frozen=True, slots=True)
class Load:
    """LOAD and NEW_LOAD: LOAD DATA of a file that the replica fetches. They differ in how separators are stored."""

    thread_id: int
    execution_time: int
    skip_lines: int
    separators: Separators
    fields: tuple[str, ...]
    table: str
    schema: str
    file_name: str


@dataclass(frozen=True, slots=True)
class CreateFile(Load):
    """CREATE_FILE: LOAD DATA, and the first block of its file."""

    file_id: int
    block: bytes


@dataclass(frozen=True, slots=True)
class AppendBlock:
    """APPEND_BLOCK: another block of a file."""

    file_id: int
    block: bytes


@dataclass(frozen=True, slots=True)
class BeginLoadQuery(AppendBlock):
    """BEGIN_LOAD_QUERY: the first block of a file that an EXECUTE_LOAD_QUERY will load."""


@dataclass(frozen=True, slots=True)
class ExecLoad:
    """EXEC_LOAD: the file is complete, load it."""

    file_id: int


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """DELETE_FILE: the load failed, discard the file."""

    file_id: int


_LOAD = Layout(
    ("thread_id", "I"),
    ("execution_time", "I"),
    ("skip_lines", "I"),
    ("table_length", "B"),
    ("schema_length", "B"),
    ("field_count", "I"),
)


def decode_load(body: Cursor, context: Context) -> Load:
    """Decode LOAD or NEW_LOAD.

    offset  bytes  field
    0       4      thread id
    4       4      execution time in seconds
    8       4      lines to skip
    12      1      length of the table's name
    13      1      length of the schema's name
    14      4      number of fields
    18      ...    separators
            n      lengths of the field names, one byte each
            ...    field names, table, schema, each zero-terminated
            rest   name of the file

    Servers write no zero byte after the name of the file; the protocol's documents show one after that of LOAD. It is
    not part of the name then, but the extra byte of the event.
    """
    head = body.fields(_LOAD)
    load = _load_body(body, context, head)
    end = body.data.find(b"\0", body.offset, body.end) if context.type_code == EventCode.LOAD else -1
    length = (body.end if end < 0 else end) - body.offset
    return Load(*load, body.text("file_name", length))


def encode_load(event: Load, writer: Writer, context: Context) -> None:
    """Encode LOAD or NEW_LOAD: the inverse of `decode_load`."""
    _write_head(event, writer)
    _write_load_body(event, writer, context)


def decode_create_file(body: Cursor, context: Context) -> CreateFile:
    """Decode CREATE_FILE: the post-header of a load, a file id, the body of a load, a zero byte, the first block."""
    head = body.fields(_LOAD)
    file_id = body.u32("file_id")
    load = _load_body(body, context, head)
    file_name = body.until_zero("file_name")
    return CreateFile(*load, file_name, file_id, body.rest("block"))


def encode_create_file(event: CreateFile, writer: Writer, context: Context) -> None:
    """Encode CREATE_FILE: the inverse of `decode_create_file`."""
    _write_head(event, writer)
    writer.u32(event.file_id)
    _write_load_body(event, writer, context)
    writer.zero()
    writer.raw(event.block)


def decode_append_block(body: Cursor, _context: Context) -> AppendBlock:
    """Decode APPEND_BLOCK: 4 bytes of file id, then the block."""
    return AppendBlock(body.u32("file_id"), body.rest("block"))


def decode_begin_load_query(body: Cursor, _context: Context) -> BeginLoadQuery:
    """Decode BEGIN_LOAD_QUERY: 4 bytes of file id, then the block."""
    return BeginLoadQuery(body.u32("file_id"), body.rest("block"))


def encode_append_block(event: AppendBlock, writer: Writer, _context: Context) -> None:
    """Encode APPEND_BLOCK: the inverse of `decode_append_block`."""
    writer.u32(event.file_id)
    writer.raw(event.block)


def decode_exec_load(body: Cursor, _context: Context) -> ExecLoad:
    """Decode EXEC_LOAD: 4 bytes of file id."""
    return ExecLoad(body.u32("file_id"))


def decode_delete_file(body: Cursor, _context: Context) -> DeleteFile:
    """Decode DELETE_FILE: 4 bytes of file id."""
    return DeleteFile(body.u32("file_id"))


def encode_file_id(event: ExecLoad | DeleteFile, writer: Writer, _context: Context) -> None:
    """Encode EXEC_LOAD or DELETE_FILE: the inverse of `decode_exec_load` and `decode_delete_file`."""
    writer.u32(event.file_id)


def _load_body(
    body: Cursor, context: Context, head: tuple[int, ...]
) -> tuple[int, int, int, Separators, tuple[str, ...], str, str]:
    thread_id, execution_time, skip_lines, table_length, schema_length, field_count = head
    separators = _old_separators(body) if context.type_code == EventCode.LOAD else _new_separators(body)
    lengths = body.raw("field_lengths", field_count)
    fields = tuple(_terminated(body, "field", length) for length in lengths)
    table = _terminated(body, "table", table_length)
    schema = _terminated(body, "schema", schema_length)
    return thread_id, execution_time, skip_lines, separators, fields, table, schema


def _terminated(body: Cursor, name: str, length: int) -> str:
    text = body.text(name, length)
    body.zero(f"{name}_end")
    return text


def _old_separators(body: Cursor) -> Separators:
    """Read one byte for each separator, options, and the flags of empty separators."""
    return Separators(
        field_terminator=body.raw("field_terminator", 1, as_text),
        enclosed_by=body.raw("enclosed_by", 1, as_text),
        line_terminator=body.raw("line_terminator", 1, as_text),
        line_start=body.raw("line_start", 1, as_text),
        escaped_by=body.raw("escaped_by", 1, as_text),
        options=body.u8("options", flags(LoadOption)),
        empty_flags=body.u8("empty_flags", flags(EmptyOption)),
    )


def _new_separators(body: Cursor) -> Separators:
    """Read a length and the bytes of each separator, and options."""
    return Separators(
        field_terminator=_counted(body, "field_terminator"),
        enclosed_by=_counted(body, "enclosed_by"),
        line_terminator=_counted(body, "line_terminator"),
        line_start=_counted(body, "line_start"),
        escaped_by=_counted(body, "escaped_by"),
        options=body.u8("options", flags(LoadOption)),
    )


def _counted(body: Cursor, name: str) -> bytes:
    return body.raw(name, body.u8(f"{name}_length"), as_text)


def _write_head(event: Load, writer: Writer) -> None:
    table, schema = writer.encode_text(event.table), writer.encode_text(event.schema)
    writer.fields(
        _LOAD,
        event.thread_id,
        event.execution_time,
        event.skip_lines,
        len(table),
        len(schema),
        len(event.fields),
    )


def _write_load_body(event: Load, writer: Writer, context: Context) -> None:
    separators = event.separators
    for value in separators.texts:
        if context.type_code != EventCode.LOAD:
            writer.u8(len(value))
        writer.raw(value)
    writer.u8(separators.options)
    if context.type_code == EventCode.LOAD:
        writer.u8(separators.empty_flags or 0)
    fields = [writer.encode_text(field) for field in event.fields]
    writer.raw(bytes(map(len, fields)))
    for text in (*fields, writer.encode_text(event.table), writer.encode_text(event.schema)):
        writer.raw(text)
        writer.zero()
    writer.text(event.file_name)
