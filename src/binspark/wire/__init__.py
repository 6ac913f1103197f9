"""Bytes: the bounds-checked cursor, its mirror the writer, and the small encodings of the format."""

from binspark.wire.cursor import Cursor
from binspark.wire.layout import Layout
from binspark.wire.recording import RecordingCursor, Span
from binspark.wire.writer import Writer

__all__ = ["Cursor", "Layout", "RecordingCursor", "Span", "Writer"]
