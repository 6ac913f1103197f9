"""Who reads hostile input, besides commands: the parts of binspark that call kernels with bytes of others.

Each reader takes a log, and a function that changes bytes: valid input is not changed, of hostile input some bytes are.
Only bytes are hostile. Addresses and lengths of memory are true, as Python always passes them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.archive.recovery import recover_log
from binspark.columns.options import ColumnOptions
from binspark.columns.reader import BatchReader
from binspark.columns.result_rows import ResultRows
from binspark.columns.selection import Selection
from binspark.columns.starts import LogBytes
from binspark.documents.digests import for_digests, row_digests
from binspark.documents.row_images import RowImages
from binspark.documents.row_objects import json_rows, variant_rows
from binspark.documents.variant import variant_documents
from binspark.errors import BinlogError, DecodeError, Truncated
from binspark.event.column_types import ColumnType as T
from binspark.files.header_scan import Look, open_scanner
from binspark.files.sources import find_logs
from binspark.files.splits import plan_logs
from binspark.frames import Framer, LogFormat
from binspark.gtid import Gtid, GtidSet
from binspark.replication.channel import PACKET_HEADER, Memory, UnreadPackets
from binspark.replication.commands import DumpFlag
from binspark.replication.transaction_index import find_statements, find_tables, index_transactions
from binspark.replication.unpack import KernelUnpacker, Unpacked
from binspark.schema.table import TableSchema
from binspark.serve.archive_end import EndFinder
from binspark.serve.channel import ClientChannel
from binspark.serve.dump import Dump, DumpRequest
from binspark.serve.errors import ClientError
from binspark.serve.find import DumpStart
from binspark.serve.gtid_skips import MysqlSkips
from binspark.serve.logs import ArchiveLogs
from binspark.values.column import BINARY_COLLATION, Column
from tests.support.replication.scripted_server import packets

Change = Callable[[bytes], bytes]
Reader = Callable[[Path, Change], None]

_FIRST_BYTES = 4
_STARTS = 8
_ROWS = 20
_COLLIDING_KEYS = 1 << 17
_SKIPPED = Gtid("00000000-0000-0000-0000-000000000001", 5)
_ALL = Look.STATEMENTS | Look.TABLE_MAPS | Look.PAYLOADS


def overwrite(random: Random, content: bytearray, start: int) -> None:
    """Overwrite a field that begins at an offset: a number at one end of its range, or anything."""
    width = random.choice((1, 2, 4, 8))
    value = random.choice((bytes(width), b"\xff" * width, b"\x7f" * width, b"\x80" * width, random.randbytes(width)))
    room = max(0, min(width, len(content) - start))
    content[start : start + room] = value[:room]


def damaged(random: Random, content: bytes) -> bytes:
    """Return bytes, some of which are others."""
    changed = bytearray(content)
    for _ in range(random.randint(1, 4)):
        overwrite(random, changed, random.randrange(len(changed)))
    if changed == content:
        changed[random.randrange(len(changed))] ^= random.randint(1, 0xFF)
    return bytes(changed)


# --- A log in an archive ----------------------------------------------------------------------------------------------


class _Client(ClientChannel):
    """A client that takes all packets, and goes when there are no more."""

    def __init__(self) -> None:
        self.sequence = 0

    def send(self, *payloads: bytes) -> None:
        """Take packets."""
        self.sequence = (self.sequence + len(payloads)) & 0xFF

    def send_bytes(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes."""

    def is_gone(self, _seconds: float) -> bool:
        """Return True."""
        return True


def read_archive(log: Path, change: Change) -> None:
    """Recover a log, find its transactions, and serve it: as it is, and with other bytes after its first event."""
    content = log.read_bytes()
    head = len(next(Framer().feed(content)).data) + _FIRST_BYTES
    for rest in (content[head:], change(content[head:])):
        log.write_bytes(content[:head] + rest)
        with suppress(BinlogError):
            recover_log(log)
        _find_transactions(log)
        for skips in (None, MysqlSkips(GtidSet.of([_SKIPPED]))):
            with suppress(BinlogError, ClientError):
                _serve(log, skips)


def _find_transactions(log: Path) -> None:
    (planned,) = plan_logs(find_logs(str(log)))
    with open_scanner(planned) as scanner:
        found = LogBytes(scanner.file.read_at, planned.size, scanner.head.format)
        for start in range(0, planned.size, planned.size // _STARTS):
            found.find_start(start)
        for _ in scanner.events(_ALL):
            pass
        scanner.sound_end(_FIRST_BYTES, planned.size)


def _serve(log: Path, skips: MysqlSkips | None) -> None:
    logs = ArchiveLogs(log)
    start = DumpStart(logs.last(), _FIRST_BYTES, skips)
    request = DumpRequest(DumpFlag.NON_BLOCK, server_id=1, checksum=True, heartbeat_seconds=None)
    EndFinder(logs).find()
    Dump(_Client(), logs, start, request, threading.Event()).run()


# --- Packets ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Events:
    """Events that were unpacked."""

    file: str
    offset: int
    format: LogFormat
    array: npt.NDArray[np.uint8]


def read_packets(log: Path, change: Change) -> None:
    """Unpack packets with the events of a log as a follower does: with true headers, and with any."""
    content, framer = log.read_bytes(), Framer()
    events = []
    with suppress(DecodeError):
        events += [frame.data for frame in framer.feed(content)]
    assert framer.format is not None
    first = events[0]
    sent = packets([b"\0" + event for event in events[1:]], 0)
    for received in (sent, change(sent) if sent else sent):
        unread = UnreadPackets(Memory(len(received)), end=len(received))
        unread.memory.view[: len(received)] = received
        unpacked = Unpacked(Memory(len(content)))
        unpacked.begin(_FIRST_BYTES + len(first), checksum=bool(framer.format.checksum_length), stop_offset=0)
        unpack = KernelUnpacker()
        while unread.end - unread.start > PACKET_HEADER:
            unpack(unread, unpacked)
            payload = int.from_bytes(unread.memory.view[unread.start : unread.start + 3], "little")
            unread.start = min(unread.end, unread.start + PACKET_HEADER + payload)  # the stream reads what it left
            unread.sequence = (unread.sequence + 1) & 0xFF
        _index(log.name, _FIRST_BYTES + len(first), framer.format, bytes(unpacked.target.view[: unpacked.size]))


def _index(file: str, offset: int, log_format: LogFormat, content: bytes) -> None:
    events = _Events(file, offset, log_format, np.frombuffer(content, dtype=np.uint8))
    with suppress(BinlogError):
        index_transactions(events)
    with suppress(BinlogError):
        list(find_statements(events))
    with suppress(BinlogError):
        find_tables(events, offset, offset + len(content))


# --- Rows of a query --------------------------------------------------------------------------------------------------

_RESULT_COLUMNS = (
    (T.LONGLONG, Column(T.LONGLONG, name="i")),
    (T.NEWDECIMAL, Column(T.NEWDECIMAL, precision=65, scale=30, name="d")),
    (T.DATETIME, Column(T.DATETIME2, scale=3, name="m")),
    (T.TIME, Column(T.TIME2, scale=6, name="t")),
    (T.TIMESTAMP, Column(T.TIMESTAMP2, name="s")),
    (T.BIT, Column(T.BIT, length=12, name="b")),
    (T.VAR_STRING, Column(T.VARCHAR, length=300, collation=BINARY_COLLATION, name="v")),
    (T.YEAR, Column(T.YEAR, name="y")),
)
_RESULT_ROW = (
    b"\0\0\0\1\2\3\4\5\6\7\x08\x09-12.34000\x0b\xe8\7\2\x1d\x17\x3b\x3a\1\0\0\0\x0c\1\x22\0\0\0\x16\x3b\x3b\1\0\0\0"
    b"\7\xe8\7\2\x1d\1\2\3\2\x0f\xff\x05valueA\7"
)
_MULTIPLE = b"\1"


class _ResultPackets:
    """Packets of a result set in memory: `columns.result_rows.ResultPackets`."""

    def __init__(self, received: bytes) -> None:
        self._memory = Memory(len(received))
        self._memory.view[: len(received)] = received
        self._start = self._sequence = 0

    def unread(self) -> tuple[int, int, int]:
        """Return where packets are, and the number of the next one."""
        return self._memory.address + self._start, self._memory.address + self._memory.size, self._sequence

    def skip(self, count: int, sequence: int) -> None:
        """Note that packets were read."""
        self._start += count
        self._sequence = sequence

    def receive(self, _needed: int) -> None:
        """Refuse, because there are no more packets."""
        raise Truncated("the connection broke")

    def read_row(self) -> bytes | None:
        """Return the payload of the next packet, which may have any number; None if it is not complete."""
        view, start = self._memory.view, self._start + PACKET_HEADER
        end = start + int.from_bytes(view[self._start : self._start + 3], "little")
        if end > self._memory.size:
            return None
        self.skip(end - self._start, self._sequence + 1 & 0xFF)
        return bytes(view[start:end])


def read_results(log: Path, change: Change) -> None:
    """Read the rows of a query: true ones, with other bytes, and parts of a log."""
    content = log.read_bytes()
    rows = [_RESULT_ROW, change(_RESULT_ROW), _MULTIPLE + _RESULT_ROW[1:]] * _ROWS
    parts = [b"\0" + content[at : at + len(_RESULT_ROW)] for at in range(0, len(content), len(content) // _ROWS)]
    sent = packets([*rows, b"\xfe\0\0\0\0"], 0)
    types, columns = zip(*_RESULT_COLUMNS, strict=True)
    for received in (
        sent,
        change(sent),
        packets([_RESULT_ROW], 0),
        packets([change(_RESULT_ROW)], 0),
        packets(parts, 0),
    ):
        with suppress(BinlogError):
            for _ in ResultRows(TableSchema("d", "t", columns), ColumnOptions(), types).batches(
                _ResultPackets(received)
            ):
                pass


# --- Rows and documents as documents ----------------------------------------------------------------------------------

_DOCUMENT = (
    '{"a": [1, -2.5e3, 0.1e-400, 123456789012345678901234567890.123, true, false, null], "a": "x", '
    r'"b\n\u00e9": {"": ["\ud83d\ude00"]}, "deep": [[[[[{"k": {}}]]]]], "long": "' + "y" * 300 + '"}'
)
_TEXT = Column(T.VARCHAR, length=300, name="text")  # of an unknown character set


@cache
def colliding_keys() -> tuple[str, ...]:
    """Return keys that have one hash, by the function that binspark had before it was given a seed.

    It took eight bytes at a time. Of two such words, the second one sets it to what the first one has made of it.
    """
    generator = np.random.default_rng(1)
    side = int(_COLLIDING_KEYS**0.5) + 1
    blocks = [_colliding_words(np.uint64(state), side, generator) for state in (32, 0)]
    return tuple(first + second for first in blocks[0] for second in blocks[1])[:_COLLIDING_KEYS]


def _colliding_words(state: np.uint64, count: int, generator: np.random.Generator) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        first = generator.integers(ord("a"), ord("z"), (1 << 20, 8), dtype=np.uint8, endpoint=True)
        mixed = (first.view(np.uint64).ravel() ^ state) * np.uint64(0x9E37_79B9_7F4A_7C15)
        second = (mixed ^ mixed >> np.uint64(32)).view(np.uint8).reshape(-1, 8)
        usable = ((second > ord('"')) & (second < 0x7F) & (second != ord("\\"))).all(axis=1)
        found += [text.tobytes().decode() for text in np.concatenate([first, second], axis=1)[usable]]
    return found[:count]


def read_documents(log: Path, change: Change) -> None:
    """Make documents of the rows of a log, digests of them, and VARIANT of JSON text."""
    for selection in (Selection(before=True, images=True), for_digests(Selection())):
        with suppress(BinlogError), log.open("rb") as file:
            for found in BatchReader(selection).read(file.readinto):
                row_digests(found)
                for write in (json_rows, variant_rows):
                    images = RowImages(found, write)
                    images.before()
                    images.after()
                    images.keys()
    texts = pa.array([change(_DOCUMENT.encode()) for _ in range(_ROWS)], pa.binary())
    for write in (json_rows, variant_rows):
        write([_TEXT], [texts])
    for text in _texts(change):
        with suppress(BinlogError):
            variant_documents(pa.array([text, text], pa.string()))


def _texts(change: Change) -> Iterator[str]:
    for _ in range(_ROWS):
        yield change(_DOCUMENT.encode()).decode("utf-8", "replace")
    yield from ("[" * 1000, "9" * 10_000, '{"a":' * 500, "-0." + "1" * 5000 + "e-999999999")
    yield "{" + ",".join(f'"{key}":1' for key in colliding_keys()) + "}"
