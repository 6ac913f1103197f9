"""`explain` of row images, of absent fields and clear flags, and of packets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.files import find_logs
from binspark.gtid import GtidSet
from binspark.render.explain.explanation import Explanation, Field, Section
from binspark.render.explain.log import Selection, explain_log
from binspark.render.explain.packet import explain_packet, packet_bytes
from binspark.replication.commands import BinlogDump, BinlogDumpGtid, DumpFlag, RegisterSlave, encode_command
from binspark.testing.builder import MARIADB_11_8, BinlogBuilder, delete, insert, integer, table, update, varchar
from tests.corpus.cases import corpus_logs, log_id

ORDERS = table("shop.orders", integer("id"), varchar("note", 40))
ROWS = frozenset({30, 31, 32, 39})


def explained(path: Path, types: frozenset[int] = ROWS) -> list[Explanation]:
    [source] = find_logs(path)
    return list(explain_log(source, Selection(types=types)))


def log_of(folder: Path, *, compress: bool = False) -> Path:
    log = BinlogBuilder()
    changes = (
        insert(ORDERS, (1, "new"), (2, None)),
        update(ORDERS, ((1, "new"), (1, "old"))),
        delete(ORDERS, (2, None)),
    )
    log.transaction(*changes, compress=True if compress else None)
    [path] = log.save(folder)
    return path


def images(explanation: Explanation) -> list[tuple[str, object, str]]:
    return [(field.name, field.value, field.meaning) for field in explanation.fields if field.section is Section.ROWS]


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "inside a payload"])
def test_every_value_of_a_row_has_its_bytes_and_its_name(tmp_path: Path, compress: bool) -> None:
    inserted, updated, deleted = explained(log_of(tmp_path, compress=compress))
    first, second = images(inserted)[:4], images(inserted)[4:]
    assert first[0] == ("row[0].after.null_bits", b"\x00", "no value is NULL")
    assert first[1][:2] == ("row[0].after.id", "1")
    assert first[-1][1] == '"new"'
    assert first[-1][0].startswith("row[0].after.note")
    assert second[0] == ("row[1].after.null_bits", b"\x02", "NULL: note")
    assert [name.split(".")[1] for name, _, _ in images(updated)] == ["before"] * 4 + ["after"] * 4
    assert images(deleted)[0][0] == "row[0].before.null_bits"


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_fields_cover_every_byte_of_recorded_rows_once(log: Path) -> None:
    for explanation in explained(log, frozenset(range(20, 40)) | {23, 24, 25}):
        data = b"".join(field.data for field in explanation.fields)
        start = explanation.fields[0].offset
        ends = [field.end - start for field in explanation.fields]
        assert ends == sorted(ends)
        assert ends[-1] == len(data)


def test_rows_without_a_table_map_say_so(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.rows(insert(ORDERS, (1, "new")), table_id=77)
    [path] = log.save(tmp_path)
    [explanation] = explained(path)
    field = explanation.fields[-2]
    assert (field.name, field.meaning) == ("rows", "row images; no TABLE_MAP with id 77 comes before them")


def named(explanation: Explanation, name: str) -> Field:
    return next(field for field in explanation.fields if field.name == name)


def test_a_clear_flag_and_an_absent_field_have_a_meaning(tmp_path: Path) -> None:
    inserted = explained(log_of(tmp_path))[0]
    assert "not NO_FOREIGN_KEY_CHECKS: foreign keys are checked" in named(inserted, "flags").meaning or any(
        "foreign keys are checked" in field.meaning for field in inserted.fields
    )
    log = BinlogBuilder(MARIADB_11_8)
    log.transaction(insert(ORDERS, (1, "new")))
    [path] = log.save(tmp_path)
    [gtid] = explained(path, frozenset({162}))
    assert "not STANDALONE: the transaction ends with COMMIT or XID" in named(gtid, "gtid_flags").meaning
    absent = named(gtid, "commit_id")
    assert (absent.data, absent.meaning) == (b"", "absent: the transaction was not part of a group commit")


GTIDS = GtidSet("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5")


@pytest.mark.parametrize(
    ("command", "name", "fields"),
    [
        (
            BinlogDump(4, DumpFlag.NON_BLOCK, 7, "binlog.000003"),
            "COM_BINLOG_DUMP",
            ["command", "position", "flags", "server_id", "file"],
        ),
        (
            RegisterSlave(7, "replica", port=3306),
            "COM_REGISTER_SLAVE",
            [
                "command",
                "server_id",
                "host_length",
                "host",
                "user_length",
                "password_length",
                "port",
                "rank",
                "master_id",
            ],
        ),
        (BinlogDumpGtid(DumpFlag.NONE, 7, GTIDS), "COM_BINLOG_DUMP_GTID", ["command", "flags", "server_id"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("with_header", [False, True], ids=["payload", "packet"])
def test_a_packet_is_explained(
    command: BinlogDump | RegisterSlave | BinlogDumpGtid, name: str, fields: list[str], with_header: bool
) -> None:
    payload = encode_command(command)
    data = len(payload).to_bytes(3, "little") + b"\0" + payload if with_header else payload
    explanation = explain_packet(data)
    assert (explanation.type, explanation.error) == (name, None)
    assert b"".join(field.data for field in explanation.fields) == data
    names = [field.name for field in explanation.fields if field.section is Section.BODY]
    assert names[: len(fields)] == fields


def test_a_packet_is_typed_in_hex(capsys: pytest.CaptureFixture[str]) -> None:
    data = encode_command(BinlogDump(4, DumpFlag.NONE, 7, "binlog.000003"))
    assert packet_bytes(data.hex(" ")) == packet_bytes(f"0x{data.hex()}") == data
    assert exit_code(["explain", "--packet", data.hex(":"), "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "COM_BINLOG_DUMP"
    assert exit_code(["explain", "--packet", "ff01"]) == 1
    assert "command 0xff is not one of the replication protocol" in capsys.readouterr().err
    assert exit_code(["explain", "--packet", "xyz"]) == 2
    assert exit_code(["explain"]) == 2


def test_all_bytes_are_shown_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1, "x" * 40)))
    [path] = log.save(tmp_path)
    assert exit_code(["explain", "--type", "WRITE_ROWS", str(path)]) == 0
    short = capsys.readouterr().out
    assert exit_code(["explain", "--type", "WRITE_ROWS", "--full-hex", str(path)]) == 0
    full = capsys.readouterr().out
    assert short.count("78") < 40
    assert full.count("78") >= 40


def test_rows_that_are_compressed_are_explained_although_their_bytes_are_not_in_the_event(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_11_8)
    log.transaction(update(ORDERS, ((1, "new"), (1, "old"))), compress=True)
    [path] = log.save(tmp_path)
    (found,) = (each for each in explained(path, frozenset(range(256))) if each.type.startswith("UPDATE_ROWS"))
    values = {field.name: field for field in found.fields if field.name.startswith("row[")}
    assert {name: field.value for name, field in values.items() if field.meaning.startswith(("LONG", "VARCHAR"))} == {
        "row[0].before.id": "1",
        "row[0].before.note.value": '"new"',
        "row[0].after.id": "1",
        "row[0].after.note.value": '"old"',
    }
    assert values["row[0].before.id"].meaning == "LONG; bytes 1 to 4 of the decompressed rows"
    assert {field.data for field in values.values()} == {b""}
    assert {field.section for field in values.values()} == {Section.ROWS}
