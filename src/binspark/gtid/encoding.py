"""A MySQL GTID set as bytes: in PREVIOUS_GTIDS events and in the COM_BINLOG_DUMP_GTID command.

    bytes  field
    8      header, see below
    for each pair of UUID and tag, ordered by their bytes:
    16     UUID
    1+n    length of the tag as a varlen integer (one byte: twice the length), and the tag; only in the tagged format
    8      number of intervals
    for each interval, ascending, with a gap between each two:
    8      first number
    8      last number + 1

The header is a plain 64-bit count in the untagged format, so that its highest byte is 0. In the tagged format (since
MySQL 8.3) the first and the last byte are 1, and the count is between them: the last byte tells the formats apart
because no count is that large. MySQL 9.7 can also read a compact format, 2, but does not write it.
"""

from __future__ import annotations

from binspark.errors import EncodeError, Malformed, Truncated, Unsupported
from binspark.gtid.gtid_set import GtidSet
from binspark.gtid.intervals import Interval, join
from binspark.gtid.syntax import MAX_NUMBER, normal_tag
from binspark.gtid.text import Source
from binspark.position import Position
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import note

UNTAGGED = 0
TAGGED = 1

_MAX_TAG_LENGTH = 32
_INTERVAL = Layout(("first", "Q"), ("end", "Q", lambda end: f"exclusive: the last is {end - 1}"))


def decode_gtid_set(cursor: Cursor) -> tuple[GtidSet, bool]:
    """Decode a set. Also return whether it is in the tagged format: a set without tags may be in either."""
    source_count, tagged = _decode_header(cursor)
    collected: dict[Source, list[Interval]] = {}
    for index in range(source_count):
        cursor.enter("source", index)
        source = _decode_source(cursor, tagged=tagged)
        collected.setdefault(source, []).extend(_decode_intervals(cursor))
        cursor.leave()
    return GtidSet.from_parts((source, join(intervals)) for source, intervals in collected.items()), tagged


def encode_gtid_set(gtid_set: GtidSet, writer: Writer, *, tagged: bool | None = None) -> None:
    """Encode a set as the server does. `tagged` selects the format; None: tagged only if there are tags."""
    in_tagged_format = gtid_set.tagged if tagged is None else tagged
    if gtid_set.tagged and not in_tagged_format:
        raise EncodeError("the GTID set has tags, which the untagged format cannot represent")
    _encode_header(len(gtid_set.parts), writer, tagged=in_tagged_format)
    for (uuid, tag), intervals in gtid_set.parts:
        writer.uuid(uuid)
        if in_tagged_format:
            writer.varlen(len(tag))
            writer.raw(tag.encode("ascii"))
        writer.u64(len(intervals))
        for start, stop in intervals:
            writer.fields(_INTERVAL, start, stop)


def _decode_header(cursor: Cursor) -> tuple[int, bool]:
    """Decode the number of sources and the format.

    offset  bytes  field
    0       8      count, untagged; or
    0       1      format
    1       6      count
    7       1      format again
    """
    code = Cursor(cursor.data, cursor.offset, cursor.end).raw("gtid_set_header", 8)[7]
    if code == UNTAGGED:
        return cursor.u64("source_count", note("untagged format")), False
    if code != TAGGED:
        message = f"unsupported GTID set format {code}, expected {UNTAGGED} (untagged) or {TAGGED} (tagged)"
        raise Unsupported(message, Position(offset=cursor.offset))
    first = cursor.u8("format", note("tagged format"))
    if first != code:
        raise cursor.malformed(f"GTID set header differs between its first byte ({first}) and its last ({code})")
    source_count = cursor.uint("source_count", 6)
    cursor.u8("format_again")
    return source_count, True


def _encode_header(source_count: int, writer: Writer, *, tagged: bool) -> None:
    if not tagged:
        writer.u64(source_count)
        return
    writer.u8(TAGGED)
    writer.uint(source_count, 6)
    writer.u8(TAGGED)


def _decode_source(cursor: Cursor, *, tagged: bool) -> Source:
    uuid = cursor.uuid("uuid")
    if not tagged:
        return uuid, ""
    length = cursor.varlen("tag_length")
    if length > _MAX_TAG_LENGTH:
        raise cursor.malformed(f"tag_length is {length}, expected at most {_MAX_TAG_LENGTH}")
    offset = cursor.offset
    try:
        return uuid, normal_tag(cursor.text("tag", length))
    except Malformed as error:
        raise error.at(Position(offset=offset)) from None


def _decode_intervals(cursor: Cursor) -> list[Interval]:
    interval_count = cursor.u64("interval_count")
    needed = interval_count * _INTERVAL.size
    if needed > cursor.remaining:
        message = f"{interval_count} intervals need {needed} bytes, only {cursor.remaining} remain"
        raise Truncated(message, Position(offset=cursor.offset))
    intervals: list[Interval] = []
    last_stop = 0
    for index in range(interval_count):
        cursor.enter("interval", index)
        start, stop = cursor.fields(_INTERVAL)
        if not last_stop < start < stop <= MAX_NUMBER + 1:
            raise cursor.malformed(f"interval [{start}, {stop}) is empty, out of range, or not after {last_stop}")
        intervals.append((start, stop))
        last_stop = stop
        cursor.leave()
    return intervals
