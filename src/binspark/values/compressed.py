"""MariaDB's compressed columns: VARCHAR and TEXT or BLOB with the attribute COMPRESSED."""

from __future__ import annotations

import zlib

from binspark.errors import Malformed, Truncated, Unsupported
from binspark.frames.payload import exceeds_limit, max_payload_bytes
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.options import ValueOptions
from binspark.values.strings import read_limited, read_sized
from binspark.values.text import text_or_policy
from binspark.wire import Cursor

_STORED, _ZLIB = 0, 8
_RAW_DEFLATE = 0x08
_SIZE_BYTES = 0x07


def decode_compressed_varchar(cursor: Cursor, column: Column, options: ValueOptions) -> str | bytes:
    """Decode a compressed VARCHAR or VARBINARY."""
    start = cursor.offset
    return text_or_policy(_expand(read_limited(cursor, column), options, start), column, options, start)


def decode_compressed_blob(cursor: Cursor, column: Column, options: ValueOptions) -> str | bytes:
    """Decode a compressed TEXT or BLOB."""
    start = cursor.offset
    return text_or_policy(_expand(read_sized(cursor, column), options, start), column, options, start)


def _expand(stored: bytes, options: ValueOptions, offset: int) -> bytes:
    """Return the decompressed bytes of a value.

    bytes   field
    0       an empty value has no bytes; any other has:
    1       bits 4-7: 0 not compressed, 8 zlib; bit 3: without zlib's header; bits 0-2: bytes of the size
    0-7     size of the value, big-endian   (zlib)
    rest    the value, or its zlib stream
    """
    if not stored:
        return b""
    method = stored[0] >> 4
    if method == _STORED:
        return stored[1:]
    if method != _ZLIB:
        raise Unsupported(
            f"unsupported compression method {method} of a value, expected 0 (none) or 8 (zlib)",
            Position(offset=offset),
        )
    size_end = 1 + (stored[0] & _SIZE_BYTES)
    if size_end > len(stored):
        raise Truncated(
            f"size of a compressed value needs {size_end - 1} bytes, only {len(stored) - 1} remain",
            Position(offset=offset),
        )
    size = int.from_bytes(stored[1:size_end], "big")
    limit = max_payload_bytes() if options.expanded_bytes is None else options.expanded_bytes
    if size > limit:
        raise exceeds_limit("compressed value", size, limit).at(Position(offset=offset))
    return _inflate(stored[size_end:], size, bool(stored[0] & _RAW_DEFLATE), offset)


def _inflate(stream: bytes, size: int, raw: bool, offset: int) -> bytes:
    expander = zlib.decompressobj(-zlib.MAX_WBITS if raw else zlib.MAX_WBITS)
    try:
        value = expander.decompress(stream, size + 1)
    except zlib.error as error:
        raise Malformed(f"compressed value is not valid zlib: {error}", Position(offset=offset)) from None
    if len(value) != size or not expander.eof or expander.unused_data:
        raise Malformed(
            f"compressed value does not decompress to its uncompressed size of {size} bytes", Position(offset=offset)
        )
    return value
