"""Rows events in unusual forms, rewritten in the form that kernels know."""

from __future__ import annotations

from binspark.errors import Malformed, Unsupported
from binspark.event import Event, PartialRowData, Rows, encode_body
from binspark.event.rows import ROWS_KINDS, UNCOMPRESSED
from binspark.frames.header import HEADER_LENGTH, Header, encode_header
from binspark.wire import Writer


def rewritten(event: Event) -> bytes:
    """Return a compressed rows event as the event that was compressed, without a checksum."""
    type_code = UNCOMPRESSED[event.type_code]
    body: Rows = event.body
    data = encode_body(type_code, body, event.frame.format)
    header = event.header._replace(type_code=type_code, event_size=HEADER_LENGTH + len(data))
    return _event(header, data)


def _event(header: Header, body: bytes) -> bytes:
    writer = Writer()
    encode_header(header, 4, writer)
    writer.raw(body)
    return writer.take()


class FragmentStore:
    """Puts the fragments of a rows event together (MariaDB's PARTIAL_ROW_DATA)."""

    def __init__(self) -> None:
        self._fragments: list[bytes] = []

    def add(self, event: Event) -> bytes | None:
        """Take a fragment; return the complete event with the last one."""
        body: PartialRowData = event.body
        if body.sequence_number == 1:
            self._fragments = []
        if body.sequence_number != len(self._fragments) + 1:
            expected = len(self._fragments) + 1
            raise Malformed(
                f"fragment {body.sequence_number} of a rows event, expected fragment {expected}", event.position
            )
        self._fragments.append(body.fragment)
        if body.sequence_number < body.total_fragments:
            return None
        complete = b"".join(self._fragments)
        self._fragments = []
        if len(complete) < HEADER_LENGTH or complete[4] not in ROWS_KINDS:
            raise Unsupported("the fragments of a rows event do not begin with its header", event.position)
        return complete
