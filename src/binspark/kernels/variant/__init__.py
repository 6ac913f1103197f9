"""Rows of Arrow arrays, and JSON documents, as VARIANT: what callers of the kernels need.

WRITERS              the functions that write the values of Arrow arrays, by how they are laid out
WORKSPACE_FUNCTIONS  the functions that a workspace for documents needs
LATE_FUNCTIONS       those that not every document needs, by the outcome that requests them
write_variant_rows   writes an object for each row
write_documents      writes the document of each row
begin_dictionary     begins the dictionary of keys of a row
add_lasting_keys     puts keys into a workspace that every dictionary begins with
"""

from __future__ import annotations

from binspark.kernels.compiler import Writer
from binspark.kernels.objects.layout import Outcome, Work
from binspark.kernels.variant.document import close_container, write_document
from binspark.kernels.variant.keys import add_lasting_keys, begin_dictionary, read_key, write_dictionary
from binspark.kernels.variant.numbers import write_long_number, write_number
from binspark.kernels.variant.rows import WRITERS, write_documents, write_variant_rows
from binspark.kernels.variant.strings import decode_string

__all__ = [
    "LATE_FUNCTIONS",
    "WORKSPACE_FUNCTIONS",
    "WRITERS",
    "add_lasting_keys",
    "begin_dictionary",
    "write_documents",
    "write_variant_rows",
]

WORKSPACE_FUNCTIONS: dict[Work, Writer] = {
    Work.DOCUMENT_WRITER: write_document,
    Work.KEY_READER: read_key,
    Work.NUMBER_WRITER: write_number,
    Work.CONTAINER_CLOSER: close_container,
    Work.DICTIONARY_WRITER: write_dictionary,
}
LATE_FUNCTIONS: dict[Outcome, tuple[Work, Writer]] = {
    Outcome.NO_STRING_DECODER: (Work.STRING_DECODER, decode_string),
    Outcome.NO_LONG_NUMBER_WRITER: (Work.LONG_NUMBER_WRITER, write_long_number),
}
