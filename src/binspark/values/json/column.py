"""Columns of type JSON: documents in MySQL's binary format."""

from __future__ import annotations

from binspark.errors import DecodeError
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.json.binary import json_text
from binspark.values.options import ValueOptions
from binspark.values.strings import read_sized
from binspark.wire import Cursor


def decode_json(cursor: Cursor, column: Column, options: ValueOptions) -> str | bytes:
    """Decode a JSON document to its text, as the server prints it; or return its bytes if documents are raw.

    bytes   field
    4       length
    n       document
    """
    start = cursor.offset
    document = read_sized(cursor, column)
    return document if options.raw_documents else document_text(document, start)


def document_text(document: bytes, offset: int) -> str:
    """Return the text of a document at an offset. An error has that offset."""
    try:
        return json_text(document)
    except DecodeError as error:
        raise inside_document(error, offset) from None


def inside_document(error: DecodeError, offset: int) -> DecodeError:
    """Return an error of a document with the offset of the document, and its own offset in the message."""
    inside = error.position.offset
    at = "" if inside is None else f", at byte {inside} of a JSON document"
    return type(error)(error.message + at, Position(offset=offset))
