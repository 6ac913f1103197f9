"""The commands of the replication protocol: worked bytes, and that decoding is the inverse of encoding."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import BinlogError, DecodeError, EncodeError
from binspark.gtid import GtidSet
from binspark.replication.commands import (
    BinlogDump,
    BinlogDumpGtid,
    Command,
    DumpFlag,
    RegisterSlave,
    TableDump,
    decode_command,
    encode_command,
)
from binspark.replication.packets import (
    EndPacket,
    ErrorPacket,
    decode_acknowledgement,
    decode_end,
    decode_error,
    decode_semi_sync_header,
    encode_acknowledgement,
    encode_end,
    encode_error,
    encode_semi_sync_header,
    is_end,
)
from binspark.replication.position import BinlogPosition
from binspark.wire import Cursor

UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"

WORKED = {
    "register": (
        RegisterSlave(2, "db2", "repl", "pw", 3307, 0, 0),
        "15 02000000 03 646232 04 7265706c 02 7077 eb0c 00000000 00000000",
    ),
    "register without anything": (
        RegisterSlave(0xFFFFFFFF),
        "15 ffffffff 00 00 00 0000 00000000 00000000",
    ),
    "dump": (
        BinlogDump(4, DumpFlag.NONE, 2, "binlog.000001"),
        "12 04000000 0000 02000000 62696e6c6f672e303030303031",
    ),
    "dump of the oldest log to its end": (
        BinlogDump(0x9A, DumpFlag.NON_BLOCK | DumpFlag.HEARTBEAT_V2, 0x01020304, ""),
        "12 9a000000 0300 04030201",
    ),
    "dump by position, as the documents have it: no GTID set without BINLOG_THROUGH_GTID": (
        BinlogDumpGtid(DumpFlag.THROUGH_POSITION, 2, None, "binlog.000001", 154),
        "1e 0200 02000000 0d000000 62696e6c6f672e303030303031 9a00000000000000",
    ),
    "dump by GTIDs, as the documents have it": (
        BinlogDumpGtid(DumpFlag.THROUGH_GTID | DumpFlag.NON_BLOCK, 2, GtidSet()),
        "1e 0500 02000000 00000000 0400000000000000 08000000 0000000000000000",
    ),
    "dump by GTIDs": (
        BinlogDumpGtid(DumpFlag.HEARTBEAT_V2, 2, GtidSet(f"{UUID}:1-5:8")),
        "1e 0200 02000000 00000000 0400000000000000 40000000"
        "0100000000000000 b8ae2fd2300511f08be80242ac150002 0200000000000000"
        "0100000000000000 0600000000000000 0800000000000000 0900000000000000",
    ),
    "dump by no GTIDs from a position past 4 GiB": (
        BinlogDumpGtid(DumpFlag.NONE, 2, GtidSet(), "b.1", 1 << 32),
        "1e 0000 02000000 03000000 622e31 0000000001000000 08000000 0000000000000000",
    ),
    "dump by tagged GTIDs": (
        BinlogDumpGtid(DumpFlag.NONE, 2, GtidSet(f"{UUID}:nightly:7")),
        "1e 0000 02000000 00000000 0400000000000000 38000000"
        "0101000000000001 b8ae2fd2300511f08be80242ac150002 0e 6e696768746c79"
        "0100000000000000 0700000000000000 0800000000000000",
    ),
    "table": (TableDump("shop", "orders"), "13 04 73686f70 06 6f7264657273"),
}  # fmt: skip


@pytest.mark.parametrize(("command", "hexadecimal"), WORKED.values(), ids=WORKED)
def test_a_command_has_these_bytes(command: Command, hexadecimal: str) -> None:
    assert encode_command(command).hex(" ") == bytes.fromhex(hexadecimal).hex(" ")
    assert decode_command(bytes.fromhex(hexadecimal)) == command


U16, U32, U64 = (st.integers(0, (1 << bits) - 1) for bits in (16, 32, 64))
SHORT = st.text(max_size=60)
NAME = st.text(max_size=40)
FLAGS = U16.map(DumpFlag)
GTIDS = st.builds(
    lambda tag, first, more: GtidSet(f"{UUID}{tag}:{first}-{first + more}"),
    st.sampled_from(["", ":a", ":nightly_1"]),
    st.integers(1, 1 << 40),
    st.integers(0, 1000),
)
COMMANDS = st.one_of(
    st.builds(RegisterSlave, U32, SHORT, SHORT, SHORT, U16, U32, U32),
    st.builds(BinlogDump, U32, FLAGS, U32, NAME),
    st.builds(BinlogDumpGtid, FLAGS, U32, GTIDS, NAME, U64),
    st.builds(BinlogDumpGtid, FLAGS.map(lambda flags: flags & ~DumpFlag.THROUGH_GTID), U32, st.none(), NAME, U64),
    st.builds(TableDump, SHORT, SHORT),
)


@given(COMMANDS)
def test_a_command_survives_encoding_and_decoding(command: Command) -> None:
    assert decode_command(encode_command(command)) == command


@given(COMMANDS, st.data())
def test_a_command_that_is_cut_off_is_refused_or_another_command(command: Command, data: st.DataObject) -> None:
    whole = encode_command(command)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    try:
        decoded = decode_command(cut)
    except DecodeError:
        return
    assert encode_command(decoded) == cut


@given(st.binary(max_size=80))
def test_any_bytes_are_a_command_or_refused(payload: bytes) -> None:
    try:
        decode_command(payload)
    except BinlogError:
        return


@pytest.mark.parametrize(
    "command",
    [
        BinlogDump(1 << 32, DumpFlag.NONE, 1, "binlog.000001"),
        RegisterSlave(1, host="x" * 251),
        TableDump("x" * 300, "t"),
        BinlogDumpGtid(DumpFlag.THROUGH_GTID, 1, None),
    ],
)
def test_what_does_not_fit_its_field_is_refused(command: Command) -> None:
    with pytest.raises(EncodeError):
        encode_command(command)


def test_a_gtid_set_that_is_announced_must_come() -> None:
    cut = encode_command(BinlogDumpGtid(DumpFlag.THROUGH_GTID, 2, GtidSet()))[:-12]
    with pytest.raises(DecodeError, match="gtid_set_length needs 4 bytes"):
        decode_command(cut)


def test_the_password_of_a_registration_is_not_shown() -> None:
    assert "secret" not in repr(RegisterSlave(1, password="secret"))


def test_an_acknowledgement_has_these_bytes() -> None:
    acknowledged = BinlogPosition("binlog.000001", 0x1_0000_009A)
    encoded = encode_acknowledgement(acknowledged)
    assert encoded.hex(" ") == "ef 9a 00 00 00 01 00 00 00 62 69 6e 6c 6f 67 2e 30 30 30 30 30 31"
    assert decode_acknowledgement(Cursor(encoded)) == acknowledged


@pytest.mark.parametrize("waits", [False, True])
def test_the_mark_before_an_event_says_whether_the_source_waits(waits: bool) -> None:
    assert encode_semi_sync_header(waits=waits) == (b"\xef\x01" if waits else b"\xef\x00")
    assert decode_semi_sync_header(Cursor(encode_semi_sync_header(waits=waits))) is waits


@pytest.mark.parametrize("decode", [decode_semi_sync_header, decode_acknowledgement])
def test_another_mark_is_refused(decode: Callable[[Cursor], object]) -> None:
    with pytest.raises(DecodeError, match="0x00"):
        decode(Cursor(b"\x00\x01binlog"))


def test_an_error_packet_has_these_bytes() -> None:
    error = ErrorPacket(1236, "Could not find", "HY000")
    assert encode_error(error) == bytes.fromhex("ffd404") + b"#HY000Could not find"
    assert decode_error(encode_error(error)) == error


def test_an_error_packet_of_an_old_server_has_no_state() -> None:
    assert decode_error(b"\xff\x10\x04Too many") == ErrorPacket(1040, "Too many")


@pytest.mark.parametrize("packet", [EndPacket(), EndPacket(3, 0x22)])
def test_an_end_packet_survives_encoding_and_decoding(packet: EndPacket) -> None:
    assert is_end(encode_end(packet))
    assert decode_end(encode_end(packet)) == packet


def test_an_end_packet_of_an_old_server_is_one_byte() -> None:
    assert is_end(b"\xfe")
    assert decode_end(b"\xfe") == EndPacket()


@pytest.mark.parametrize("packet", [b"", b"\x00\xfe", b"\xfe" + bytes(8)])
def test_other_packets_are_no_end(packet: bytes) -> None:
    assert not is_end(packet)
