"""Encrypted logs are read as what was encrypted: from any offset, in any chunks, past damage, while they grow."""

from __future__ import annotations

import gzip
import io
import random
import sys
from itertools import islice
from pathlib import Path

import pytest

import binspark
from binspark.encryption.keyring import Keyring
from binspark.errors import Encrypted, Malformed, Truncated, Unsupported
from binspark.files import LogSource
from binspark.files.keyring_file import keyring_storage, load_keyring
from binspark.gtid import MariadbState
from binspark.testing.builder import MARIADB_10_11, BinlogBuilder, insert
from binspark.transactions.gtids_before import find_gtids_before
from tests.corpus.cases import CORPUS, case_logs
from tests.support.encryption import encrypting
from tests.support.encryption.encrypting import ITEMS, KEY, KEY_ID, encrypt_mariadb, encrypt_mysql, in_clear

KEYRING = Keyring("keys", ((KEY_ID, KEY),), ((1, KEY),))

Log = tuple[LogSource, bytes]
"""An encrypted log, and what it is in clear."""


def save(path: Path, content: bytes) -> LogSource:
    path.write_bytes(content)
    storage = keyring_storage(KEYRING)
    assert storage is not None
    return LogSource(str(path), storage)


def build(kind: str, folder: Path, rows: int = 60, size: int = 400) -> Log:
    if kind == "mysql":
        plain = encrypting.mysql_log(rows, size=size)
        return save(folder / "binlog.000001", encrypt_mysql(plain)), plain
    plain = encrypting.mariadb_log(rows, size=size, checksums="plain" not in kind)
    encrypted = encrypt_mariadb(plain, counter_mode="ctr" in kind)
    return save(folder / "binlog.000001", encrypted), in_clear(plain)


KINDS = ["mysql", "mariadb cbc", "mariadb ctr", "mariadb cbc plain", "mariadb ctr plain"]


@pytest.fixture(params=KINDS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    return build(request.param, tmp_path)


def test_the_log_is_that_which_was_encrypted(log: Log) -> None:
    source, plain = log
    with source.open() as file:
        assert file.size == len(plain)
        assert file.read() == plain
    assert source.size() == len(plain)


def test_every_offset_can_be_read(log: Log) -> None:
    source, plain = log
    chooser = random.Random(5)
    with source.open() as file:
        for offset in range(0, len(plain) + 3, 53):
            length = chooser.choice([1, 4, 19, 40, 500, 5000])
            assert file.read_at(offset, length) == plain[offset : offset + length]
            file.seek(offset)
            assert file.read(length) == plain[offset : offset + length]


def test_reads_of_any_size_give_the_same_bytes(log: Log) -> None:
    source, plain = log
    for size in (1, 3, 16, 17, 1000, 100_000):
        with source.open() as file:
            chunks = iter(lambda file=file, size=size: file.read(size), b"")  # type: ignore[misc]
            assert b"".join(chunks) == plain


def test_standard_input_is_decrypted(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    source, plain = log
    stream = io.BufferedReader(io.BytesIO(Path(source.name).read_bytes()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
    with LogSource("-", source.storage).open() as file:
        assert file.read() == plain


def test_a_compressed_copy_is_decrypted(log: Log, tmp_path: Path) -> None:
    source, plain = log
    copy = save(tmp_path / "binlog.000001.gz", gzip.compress(Path(source.name).read_bytes()))
    with copy.open() as file:
        assert file.is_compressed
        assert file.read() == plain
        assert file.read_at(300, 500) == plain[300:800]


def test_a_plain_log_is_read_as_it_is(tmp_path: Path) -> None:
    plain = encrypting.mysql_log(3)
    with save(tmp_path / "binlog.000001", plain).open() as file:
        assert file.read() == plain


@pytest.mark.parametrize("kind", KINDS[1:3])
def test_a_far_offset_is_found_without_reading_what_is_before_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, plain = build(kind, tmp_path, rows=360, size=50_000)
    assert len(plain) > 8 << 20
    from binspark.files.storage.local import LocalFile

    read: list[int] = []
    read_at = LocalFile.read_at

    def counted(self: LocalFile, offset: int, length: int) -> bytes:
        read.append(length)
        return read_at(self, offset, length)

    monkeypatch.setattr(LocalFile, "read_at", counted)
    with source.open() as file:
        for offset in (7_000_000, 7_000_001, 3_333_333, len(plain) - 10):
            assert file.read_at(offset, 100) == plain[offset : offset + 100]
    assert sum(read) < 3_000_000


@pytest.mark.parametrize("kind", KINDS[1:3])
def test_the_middle_of_a_huge_event_is_decrypted_from_there(kind: str, tmp_path: Path) -> None:
    builder = BinlogBuilder(MARIADB_10_11)
    for number in (1, 2):
        builder.transaction(insert(ITEMS, *((row, chr(number * 7 + row % 50) * 50_000) for row in range(80))))
    builder.stop()
    plain = encrypting.with_start_encryption(builder.content)
    source = save(tmp_path / "binlog.000001", encrypt_mariadb(plain, counter_mode="ctr" in kind))
    with source.open() as file:
        for offset in (3_000_000, 3_000_001, 3_000_015, 7_500_000, len(plain) - 60):
            assert file.read_at(offset, 1000) == in_clear(plain)[offset : offset + 1000]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_after_damage_are_read(kind: str, tmp_path: Path) -> None:
    source, plain = build(kind, tmp_path, rows=200)
    path = Path(source.name)
    content, shift = bytearray(path.read_bytes()), 512 if kind == "mysql" else 0
    middle = len(plain) // 2
    content[middle + shift : middle + shift + 200] = b"\xff" * 200
    path.write_bytes(content)
    damage: list[binspark.Damage] = []
    found = [change.after["id"] for change in binspark.rows(source, skip_damaged=damage.append) if change.after]
    assert len(damage) == 1
    assert damage[0].start <= middle < damage[0].end
    assert found[0] == 0
    assert found[-1] == 199
    assert len(found) >= 190


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_that_is_cut_off_is_truncated_wherever_it_is_cut(kind: str, tmp_path: Path) -> None:
    source, plain = build(kind, tmp_path, rows=2)
    path = Path(source.name)
    content = path.read_bytes()
    ends = {0, *(event.end_offset for event in binspark.events(source))}
    for length in range(len(plain) - 150, len(plain)):
        path.write_bytes(content[: length + len(content) - len(plain)])
        if length in ends:
            assert list(binspark.events(source))[-1].end_offset == length
        else:
            with pytest.raises(Truncated):
                list(binspark.events(source))


@pytest.mark.parametrize("kind", KINDS)
def test_an_active_log_is_read_as_far_as_it_is_written(kind: str, tmp_path: Path) -> None:
    source, plain = build(kind, tmp_path, rows=20)
    path = Path(source.name)
    content = bytearray(path.read_bytes())
    if kind != "mysql":
        content[4 + 17] |= 1
    path.write_bytes(b"")
    with path.open("ab", buffering=0) as server:
        server.write(content[:600])
        with source.open() as file:
            found = bytearray(file.read())
            for offset in range(600, len(content), 37):
                server.write(content[offset : offset + 37])
                found += file.read()
    assert found[100:] == plain[100:]


def error_of(source: LogSource) -> str:
    with pytest.raises(Encrypted) as caught:
        list(binspark.events(source))
    assert KEY.hex() not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def encrypted(tmp_path: Path) -> dict[str, LogSource]:
    """Logs of both families, opened without a keyring."""
    logs = {"mysql": build("mysql", tmp_path, 2)[0]}
    (tmp_path / "m").mkdir()
    logs["mariadb"] = build("mariadb cbc", tmp_path / "m", 2)[0]
    return {kind: LogSource(log.name) for kind, log in logs.items()}


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_without_a_keyring_the_option_is_named(encrypted: dict[str, LogSource], family: str) -> None:
    message = error_of(encrypted[family])
    assert "binlog.000001" in message
    assert "give the server's keyring file (--keyring FILE, in Python and Spark the option keyring)" in message


def with_keyring(source: LogSource, keyring: Keyring) -> LogSource:
    return LogSource(source.name, source.storage.with_keyring(keyring))


def test_a_key_that_is_missing_is_named(encrypted: dict[str, LogSource]) -> None:
    other = Keyring("other.json", (("MySQLReplicationKey_x_1", KEY),))
    message = error_of(with_keyring(encrypted["mysql"], other))
    assert f"the log is encrypted with the key {KEY_ID}, which is not in the keyring other.json" in message
    assert "it has MySQLReplicationKey_x_1; name the keyring file of the server that wrote the log" in message
    message = error_of(with_keyring(encrypted["mariadb"], other))
    assert "MariaDB encrypted the log (key 1, version 1), and the keyring other.json is not a key file" in message


def test_a_wrong_key_is_named(encrypted: dict[str, LogSource]) -> None:
    wrong = bytes(reversed(KEY))
    keyring = Keyring("wrong", ((KEY_ID, wrong),), ((1, wrong),))
    message = error_of(with_keyring(encrypted["mysql"], keyring))
    assert f"the key {KEY_ID} in the keyring wrong does not decrypt the log" in message
    message = error_of(with_keyring(encrypted["mariadb"], keyring))
    assert "the key in wrong does not decrypt the log (key 1, version 1)" in message


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda log: log[:100], Truncated),
        (lambda log: log[:4] + b"\x02" + log[5:], Unsupported),
        (lambda log: log[:5] + b"\x09" + log[6:], Malformed),
        (lambda log: log[:6] + b"\xff" + log[7:], Malformed),
        (lambda log: log[:5] + bytes(507) + log[512:], Malformed),
    ],
    ids=["cut off", "version", "field", "length", "empty"],
)
def test_a_damaged_header_is_an_error(
    encrypted: dict[str, LogSource], change: object, error: type[binspark.BinlogError]
) -> None:
    path = Path(encrypted["mysql"].name)
    path.write_bytes(change(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(error):
        list(binspark.events(with_keyring(encrypted["mysql"], KEYRING)))


def test_python_reads_encrypted_logs_with_a_keyring_file(tmp_path: Path) -> None:
    source, _ = build("mariadb cbc", tmp_path, 5)
    keys = encrypting.save_mariadb_keys(tmp_path)
    expected = [0, 1, 2, 3, 4]
    assert [change.after["id"] for change in binspark.rows(source.name, keyring=keys) if change.after] == expected
    batches = binspark.batches(source.name, table="shop.items", keyring=str(keys))
    assert [number for batch in batches for number in batch["id"].to_pylist()] == expected
    events = binspark.events(source.name, keyring=load_keyring(keys))
    assert sum(event.type == "WRITE_ROWS_V1" for event in events) == len(expected)


def test_an_event_in_place_of_start_encryption_does_not_hide_the_gtids_before() -> None:
    """MariaDB writes it before GTID_LIST; in clear it is an event to be ignored."""
    first, *_ = case_logs("mariadb/encrypted")
    events = list(binspark.events(first, keyring=CORPUS / "mariadb/encrypted/keys.txt"))
    assert [event.type for event in islice(events, 3)] == ["FORMAT_DESCRIPTION", "IGNORABLE", "GTID_LIST"]
    assert isinstance(find_gtids_before(events), MariadbState)
