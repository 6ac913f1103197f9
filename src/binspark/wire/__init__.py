"""Fields of bytes: the bounds-checked cursor, the writer, and the encodings of integers, bitmaps and decimals."""

from binspark.wire.cursor import Cursor
from binspark.wire.layout import Layout
from binspark.wire.recording import RecordingCursor, Span
from binspark.wire.writer import Writer

__all__ = ["Cursor", "Layout", "RecordingCursor", "Span", "Writer"]
