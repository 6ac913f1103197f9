"""A small log that claims to be large when it is decompressed takes no memory: every command refuses it alike."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner

from binspark.cli.main import main
from binspark.event import TransactionPayload
from binspark.frames import EventCode
from binspark.frames.payload import DEFAULT_MAX_PAYLOAD_BYTES, max_payload_bytes
from binspark.spark.options import read_options
from binspark.testing.builder import MARIADB_10_11, BinlogBuilder, insert, integer, table

ITEMS = table("shop.items", integer("id"))
COMMANDS = [
    ("events",),
    ("transactions",),
    ("rows",),
    ("sql",),
    ("stat",),
    ("dump",),
    ("cut", "--tables", "shop.items"),
    ("export",),
    ("restore",),
]


def compressed_transaction(announced: int) -> BinlogBuilder:
    """Return a log with a payload that announces a size, and a transaction before it."""
    builder = BinlogBuilder()
    builder.transaction(insert(ITEMS, (1,)))
    inner = builder.inner_bytes([builder.query_spec("BEGIN"), *builder.change_specs((insert(ITEMS, (2,)),))])
    builder.gtid(None)
    payload = zstandard.ZstdCompressor().compress(inner)
    builder.event(EventCode.TRANSACTION_PAYLOAD, TransactionPayload(0, announced, payload))
    return builder


def compressed_statement(announced: int) -> BinlogBuilder:
    """Return a log of MariaDB with a compressed statement that announces a size."""
    builder = BinlogBuilder(MARIADB_10_11)
    builder.transaction(insert(ITEMS, (1,)))
    head = bytes(13) + b"\0" + b"\x84" + announced.to_bytes(4, "big") + zlib.compress(b"BEGIN")
    builder.mariadb_gtid("0-1-9")
    builder.raw(EventCode.QUERY_COMPRESSED, head)
    return builder


BOMBS: dict[str, Callable[[int], BinlogBuilder]] = {
    "payload": compressed_transaction,
    "statement": compressed_statement,
}


def run(command: tuple[str, ...], log: Path, folder: Path, *options: str) -> tuple[int, str]:
    """Run a command on a log; return its exit code and messages."""
    output = {"cut": ("-o", str(folder / "cut")), "export": ("-o", str(folder / "export"))}.get(command[0], ())
    result = CliRunner().invoke(main, [*command, str(log), *output, *options])
    return result.exit_code, result.stderr


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_announces_more_than_the_limit_is_refused(command: tuple[str, ...], bomb: str, tmp_path: Path) -> None:
    (log,) = BOMBS[bomb](DEFAULT_MAX_PAYLOAD_BYTES + 1).save(tmp_path)
    code, messages = run(command, log, tmp_path)
    assert code == 1
    assert log.name in messages
    assert "decompresses to 536870913 bytes, more than the limit of 536870912;" in messages
    assert "--max-payload-bytes" in messages


def test_the_command_line_raises_and_lowers_the_limit(tmp_path: Path) -> None:
    (log,) = compressed_transaction(DEFAULT_MAX_PAYLOAD_BYTES + 1).save(tmp_path)
    assert "expected 536870913" in run(("rows",), log, tmp_path, "--max-payload-bytes", "1g")[1]
    assert "more than the limit of 1024;" in run(("rows",), log, tmp_path, "--max-payload-bytes", "1k")[1]
    assert max_payload_bytes() == DEFAULT_MAX_PAYLOAD_BYTES


def test_spark_has_the_option() -> None:
    assert read_options({"path": "logs", "maxPayloadBytes": "2g"}).max_payload_bytes == 2 << 30
