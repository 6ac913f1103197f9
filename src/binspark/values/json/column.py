"""JSON documents in MySQL's binary form."""

from __future__ import annotations

from binspark.errors import DecodeError
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.json.binary import json_text
from binspark.values.options import ValueOptions
from binspark.values.strings import read_sized
from binspark.wire import Cursor


def decode_json(cursor: Cursor, column: Column, _options: ValueOptions) -> str:
    """Decode a JSON document to its text, as the server prints it.

    bytes   field
    4       length
    n       document
    """
    start = cursor.offset
    return document_text(read_sized(cursor, column), start)


def document_text(document: bytes, offset: int) -> str:
    """Return the text of a document that stands at an offset. An error in it points there."""
    try:
        return json_text(document)
    except DecodeError as error:
        raise inside_document(error, offset) from None


def inside_document(error: DecodeError, offset: int) -> DecodeError:
    """Return an error that counts bytes from a document's beginning as one that points to the document."""
    inside = error.position.offset
    place = "" if inside is None else f", at byte {inside} of a JSON document"
    return type(error)(error.message + place, Position(offset=offset))
