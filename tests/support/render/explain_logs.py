"""Small logs of known bytes for the tests of explain."""

from __future__ import annotations

from pathlib import Path

from binspark.files import LogSource
from binspark.frames import MAGIC, EventCode, Header
from binspark.frames.checksum import checksum_of
from binspark.frames.header import encode_header
from binspark.render.explain.explanation import Explanation
from binspark.render.explain.log import Selection, explain_log
from binspark.wire import Writer

FORMAT_8_0_34_IN_USE = bytes.fromhex(
    "3a495c650f9c0d09007a0000007e00000001000400382e302e3334000000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000013000d0008000000000400040000006200041a08000000080808020000000a0a0a"
    "2a2a001234000a280001a135e0cd"
)
FIRST = len(MAGIC) + len(FORMAT_8_0_34_IN_USE)
"""The offset of the event after the format description."""

GTID_8_0_40 = bytes.fromhex(
    "2d10356821010000004f00000014010000000001b8ae2fd2300511f08be80242ac1500020c0000000000000002000000000000000001"
    "00000000000000c6551bae133606fc0501a838010068d62761"
)
ROTATE_8_0_40 = bytes.fromhex(
    "3910356804010000002c000000c00500000000040000000000000062696e6c6f672e303030303235de7e7110"
)
PREVIOUS_GTIDS_UNTAGGED = bytes.fromhex(
    "0100000000000000b8ae2fd2300511f08be80242ac150002010000000000000001000000000000000c00000000000000"
)
PREVIOUS_GTIDS_TAGGED = bytes.fromhex(
    "010200000000000155778904029911f1b1b84ef0c4956feb00010000000000000001000000000000000e000000000000005577890402"
    "9911f1b1b84ef0c4956feb0a6d79746167010000000000000001000000000000000300000000000000"
)


def event(type_code: int, body: bytes, *, checksum: bool = True, version: int = 4, flags: int = 0) -> bytes:
    """Return an event with this body."""
    header_length = 13 if version == 1 else 19
    size = header_length + len(body) + 4 * checksum
    writer = Writer()
    encode_header(Header(1748307822, type_code, 1, size, 0, flags), version, writer)
    writer.raw(body)
    return writer.take() + (checksum_of(writer.take()) if checksum else b"")


def start_v3(version: int) -> bytes:
    """Return the first event of a log before version 4."""
    binlog_version = 1 if version == 1 else 3
    body = binlog_version.to_bytes(2, "little") + b"4.1.22".ljust(50, b"\0") + bytes(4)
    return event(EventCode.START_V3, body, checksum=False, version=version)


def write_log(folder: Path, *events: bytes, first: bytes = FORMAT_8_0_34_IN_USE) -> Path:
    """Write a log that begins with a format description."""
    log = folder / "binlog.000024"
    log.write_bytes(MAGIC + first + b"".join(events))
    return log


def explain_all(log: Path, selection: Selection | None = None) -> list[Explanation]:
    """Explain a log."""
    return list(explain_log(LogSource(str(log)), selection or Selection()))


def explain_one(folder: Path, wanted: bytes) -> Explanation:
    """Explain an event that follows a format description."""
    (explanation,) = explain_all(write_log(folder, wanted), Selection(at=FIRST))
    return explanation


def covered(explanation: Explanation) -> bytes:
    """Return the bytes of all fields, after checking that they follow one another without a gap."""
    ends = [field.end for field in explanation.fields]
    assert [field.offset for field in explanation.fields][1:] == ends[:-1]
    return b"".join(field.data for field in explanation.fields)


def rows_of(explanation: Explanation) -> list[tuple[int, str, str, object]]:
    """Return offset within the event, bytes, name and value of each field that has bytes."""
    start = explanation.fields[0].offset
    fields = [field for field in explanation.fields if field.data]
    return [(field.offset - start, field.data.hex(), field.name, field.value) for field in fields]


def meanings(explanation: Explanation) -> dict[str, str]:
    """Return what each field means, by name."""
    return {field.name: field.meaning for field in explanation.fields}
