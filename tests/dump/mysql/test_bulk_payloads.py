"""Damaged events inside compressed transactions: kernels and reference print the same, and report the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
import zstandard

from binspark.dump.mysql import bulk_payloads, frames
from binspark.dump.output import BufferedOutput
from binspark.dump.run import dump_logs
from binspark.dump.settings import DumpSettings
from binspark.errors import DecodeError
from binspark.event import Event, TransactionPayload, encode_body
from binspark.files.read import ReadOptions, source_events
from binspark.files.sources import LogSource
from binspark.frames import MAGIC, EventCode
from binspark.frames.payload import PayloadCompression
from tests.corpus.cases import case_logs

CASES = ["mysql/compressed", "mysql/types-compressed", "mysql/compressed-checksum-none"]
DAMAGED_LOGS = 40


@pytest.mark.parametrize("case", CASES)
def test_damaged_payloads_are_printed_and_reported_as_by_the_reference(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(case)
    logs = [tmp_path / str(number) for number in range(DAMAGED_LOGS)]
    for log in logs:
        log.write_bytes(with_damaged_payloads(case_logs(case)[0], chance))
    expected = [dumped(log) for log in logs]
    assert len({message for _, *messages in expected for message in messages}) > DAMAGED_LOGS // 4
    monkeypatch.setattr(frames, "MIN_BULK_BYTES", 0)
    monkeypatch.setattr(bulk_payloads, "CHUNK_BYTES", 500)
    for log, by_reference in zip(logs, expected, strict=True):
        assert dumped(log) == by_reference


def test_a_payload_inside_a_payload_is_printed_as_by_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.write_bytes(with_nested_payloads(case_logs("mysql/compressed")[0]))
    expected = dumped(log)
    assert expected[0].count(b"# Start of compressed events.") > 1
    monkeypatch.setattr(frames, "MIN_BULK_BYTES", 0)
    assert dumped(log) == expected


def dumped(log: Path) -> tuple[bytes, ...]:
    """Return what a dump prints, warns of and ends with."""
    texts: list[bytes] = []
    warnings: list[str] = []
    output = BufferedOutput(lambda written: texts.extend(map(bytes, written)))
    try:
        dump_logs([LogSource(str(log))], DumpSettings(verbose=2), output, warnings.append)
    except DecodeError as error:
        warnings.append(str(error))
    output.flush()
    return b"".join(texts), *(warning.encode() for warning in warnings)


def with_damaged_payloads(log: Path, chance: random.Random) -> bytes:
    """Return a log with some wrong bytes in its transactions, which are correctly compressed."""

    def damaged(_event: Event, plain: bytes) -> bytes:
        data = bytearray(plain)
        kind = chance.randrange(3)
        if kind == 0:
            del data[chance.randrange(len(data)) :]
        elif kind == 1:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return bytes(data)

    return with_payloads(log, damaged)


def with_nested_payloads(log: Path) -> bytes:
    """Return a log whose compressed transactions contain themselves."""
    return with_payloads(log, lambda event, plain: plain + plain_event(event))


def with_payloads(log: Path, change: Callable[[Event, bytes], bytes]) -> bytes:
    """Return a log with other bytes in its compressed transactions."""
    result = bytearray(MAGIC)
    for event in source_events(LogSource(str(log)), ReadOptions(expand_payloads=False)):
        result += with_payload(event, change) if event.type_code == EventCode.TRANSACTION_PAYLOAD else event.frame.data
    return bytes(result)


def with_payload(event: Event, change: Callable[[Event, bytes], bytes]) -> bytes:
    payload: TransactionPayload = event.body
    log_format = event.frame.format
    plain = change(event, zstandard.ZstdDecompressor().decompress(payload.payload))
    body = TransactionPayload(PayloadCompression.ZSTD, len(plain), zstandard.ZstdCompressor().compress(plain))
    data = encode_body(event.type_code, body, log_format)
    size = event.frame.body_start + len(data) + log_format.checksum_length
    data = event.frame.data[:9] + size.to_bytes(4, "little") + event.frame.data[13 : event.frame.body_start] + data
    return data + crc32(data).to_bytes(4, "little") if log_format.checksum_length else data


def plain_event(event: Event) -> bytes:
    """Return an event without a checksum."""
    data = event.frame.data[: event.frame.body_end]
    return data[:9] + len(data).to_bytes(4, "little") + data[13:]
