"""Every error has the file and the offset of the event, and can be pickled."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from binspark.errors import BinlogError, Checksum, Encrypted, Malformed, Truncated, Unsupported
from binspark.event import Event, TransactionPayload
from binspark.files import read_events
from binspark.frames import EventCode
from binspark.frames.payload import PayloadCompression
from binspark.testing.builder import MARIADB_10_11, BinlogBuilder, Overrides

E = EventCode
START = BinlogBuilder().offset
DAMAGE: list[tuple[Callable[[BinlogBuilder], None], type[BinlogError], int]] = [
    (lambda log: log.raw(E.XID, bytes(8), overrides=Overrides(checksum=bytes(4))), Checksum, START),
    (lambda log: log.raw(E.XID, bytes(8), overrides=Overrides(event_size=3)), Malformed, START),
    (lambda log: log.raw(E.XID, bytes(8), overrides=Overrides(event_size=99)), Truncated, START),
    (lambda log: log.raw(E.XID, bytes(7)), Truncated, START),
    (lambda log: log.raw(E.FORMAT_DESCRIPTION, bytes(80)), Malformed, START),
    (lambda log: log.raw(E.ROTATE, bytes(8) + b"\xff"), Malformed, START),
    (lambda log: log.raw(E.ROWS_QUERY, b""), Truncated, START),
    (lambda log: log.raw(E.GTID_TAGGED, b"\x04"), Unsupported, START),
    (lambda log: log.event(E.TRANSACTION_PAYLOAD, TransactionPayload(9, None, b"")), Unsupported, START),
    (
        lambda log: log.event(E.TRANSACTION_PAYLOAD, TransactionPayload(PayloadCompression.NONE, None, b"short")),
        Truncated,
        START,
    ),
    (lambda log: log.transaction_payload([log.payload_spec([])]), Malformed, START),
    (lambda log: log.copy(b"a short header"), Truncated, START),
]


@pytest.mark.parametrize(("damage", "error", "offset"), DAMAGE)
def test_an_error_names_its_file_and_its_offset(
    damage: Callable[[BinlogBuilder], None], error: type[BinlogError], offset: int, tmp_path: Path
) -> None:
    log = BinlogBuilder()
    damage(log)
    (path,) = log.save(tmp_path)
    delivered: list[Event] = []
    with pytest.raises(error) as caught:
        delivered.extend(read_events(path))
    assert type(caught.value) is error
    assert (caught.value.position.file, caught.value.position.offset) == (str(path), offset)
    assert str(caught.value).startswith(f"{path}:{offset}")
    assert [event.offset for event in delivered if event.offset < offset] == [4, 127]
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.message, again.position) == (error, caught.value.message, caught.value.position)


@pytest.mark.parametrize("content", [b"", b"\xfe", b"\xfebin", b"\xfdbin1234", b"nonsense", b"\xfebin" + bytes(40)])
def test_a_file_that_is_not_a_log_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(content)
    with pytest.raises(BinlogError) as caught:
        list(read_events(path))
    assert caught.value.position.file == str(path)
    assert caught.value.position.offset in (0, 4)


def test_an_encrypted_tail_is_named(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_10_11)
    log.start_encryption(bytes(12))
    offset = log.offset
    log.copy(bytes(range(40)))
    (path,) = log.save(tmp_path)
    with pytest.raises(Encrypted, match="encrypted") as caught:
        list(read_events(path))
    assert (caught.value.position.file, caught.value.position.offset) == (str(path), offset)
