"""`binspark explain`: selection, output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from binspark.cli.explain import explain_command
from binspark.frames import EventCode
from tests.corpus.cases import case_logs
from tests.support.render.explain_logs import (
    FIRST,
    GTID_8_0_40,
    PREVIOUS_GTIDS_UNTAGGED,
    ROTATE_8_0_40,
    event,
    write_log,
)

ROTATE_AT = FIRST + len(GTID_8_0_40)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(explain_command, [str(argument) for argument in arguments])


def records(*arguments: str | Path) -> list[dict[str, Any]]:
    result = run(*arguments, "--format", "jsonl")
    return [json.loads(line) for line in result.stdout.splitlines()]


def types(*arguments: str | Path) -> list[str]:
    return [record["type"] for record in records(*arguments)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path, GTID_8_0_40, ROTATE_8_0_40)


def test_without_options_everything_is_shown_the_magic_first(log: Path) -> None:
    assert types(log) == ["MAGIC", "FORMAT_DESCRIPTION", "GTID", "ROTATE"]


def test_jsonl_is_one_object_per_line_with_keys_in_a_fixed_order(log: Path) -> None:
    (record,) = records(log, "--at", str(ROTATE_AT))
    fields = record.pop("fields")
    assert list(record.items()) == [
        ("file", str(log)),
        ("pos", ROTATE_AT),
        ("end_pos", ROTATE_AT + 44),
        ("inner", None),
        ("type", "ROTATE"),
        ("type_code", 4),
        ("checksum", "ok"),
        ("error", None),
    ]
    assert list(fields[7].items()) == [
        ("offset", ROTATE_AT + 27),
        ("length", 13),
        ("hex", "62696e6c6f672e303030303235"),
        ("section", "body"),
        ("field", "next_file"),
        ("kind", "text"),
        ("value", "binlog.000025"),
        ("meaning", "name of the next file, to the end of the body"),
    ]


def test_json_is_one_document_with_the_objects_of_jsonl(log: Path) -> None:
    assert json.loads(run(log, "--format", "json").stdout) == records(log)
    assert json.loads(run(log, "--format", "json", "--type", "STOP").stdout) == []


def test_bytes_are_hex_in_json(log: Path) -> None:
    magic, *_ = records(log)
    assert magic["fields"][0]["value"] == "0xfe62696e"
    assert magic["type_code"] is None


def test_a_position_inside_an_event_selects_the_event_with_a_note(log: Path) -> None:
    result = run(log, "--at", str(ROTATE_AT + 5))
    assert result.exit_code == 0
    assert result.stdout.startswith(f"ROTATE  at {ROTATE_AT}, 44 bytes  checksum ok\n")
    assert f"position {ROTATE_AT + 5} is inside the ROTATE at {ROTATE_AT}" in result.stderr


def test_a_position_where_an_event_begins_has_no_note(log: Path) -> None:
    assert run(log, "--at", str(ROTATE_AT)).stderr == ""


def test_position_0_is_the_magic(log: Path) -> None:
    assert types(log, "--at", "0") == ["MAGIC"]


@pytest.mark.parametrize("beyond", [0, 1000])
def test_a_position_past_the_end_is_refused(log: Path, beyond: int) -> None:
    size = log.stat().st_size
    result = run(log, "--at", str(size + beyond))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{size + beyond} is past the end of the log, which has {size} bytes" in result.stderr


def test_a_position_needs_one_log(log: Path) -> None:
    result = run(log, *case_logs("mysql/types"), "--at", "4")
    assert result.exit_code == 2
    assert "--at needs one log, got 2" in result.stderr


def test_types_are_selected_by_name_in_any_case(log: Path) -> None:
    assert types(log, "--type", "rotate") == ["ROTATE"]
    assert types(log, "--type", "ROTATE", "--type", "GTID") == ["GTID", "ROTATE"]


def test_gtid_selects_the_gtids_of_all_servers_but_not_anonymous_ones() -> None:
    assert set(types(*case_logs("mysql/gtid-tagged"), "--type", "GTID")) == {"GTID", "GTID_TAGGED"}
    assert set(types(*case_logs("mariadb/format-row"), "--type", "GTID")) == {"MARIADB_GTID"}
    assert types(*case_logs("mysql/gtid-off"), "--type", "GTID") == []


def test_an_unknown_type_is_refused_with_the_nearest_name(log: Path) -> None:
    result = run(log, "--type", "ROTAET")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean ROTATE?" in result.stderr


def test_a_type_that_does_not_occur_is_reported(log: Path) -> None:
    result = run(log, "--type", "XID")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no such event" in result.stderr


def test_an_event_inside_a_payload_is_selected_by_its_number() -> None:
    (log,) = case_logs("mysql/compressed")
    payload = records(log, "--type", "TRANSACTION_PAYLOAD")[0]
    (inside,) = records(log, "--at", str(payload["pos"]), "--inner", "1")
    assert (inside["type"], inside["inner"], inside["pos"]) == ("TABLE_MAP", 1, payload["pos"])
    assert inside["fields"][0]["offset"] > 0


def test_a_payload_selected_by_its_position_is_shown_alone() -> None:
    (log,) = case_logs("mysql/compressed")
    payload = records(log, "--type", "TRANSACTION_PAYLOAD")[0]
    assert types(log, "--at", str(payload["pos"])) == ["TRANSACTION_PAYLOAD"]


def test_types_inside_payloads_are_selected() -> None:
    (log,) = case_logs("mysql/compressed")
    assert {record["inner"] for record in records(log, "--type", "XID")} - {None} != set()


def test_an_inner_event_that_does_not_exist_is_refused(log: Path) -> None:
    result = run(log, "--inner", "99")
    assert result.exit_code == 2
    assert "no transaction payload has an event with number 99" in result.stderr


def test_a_bad_checksum_ends_with_1_and_is_shown(tmp_path: Path) -> None:
    log = write_log(tmp_path, GTID_8_0_40[:-1] + b"\0", ROTATE_8_0_40)
    result = run(log)
    assert result.exit_code == 1
    mismatch = "checksum mismatch: stored 0x0027d668, computed 0x6127d668 (79-byte GTID event)"
    assert f"{log}:{FIRST} (GTID): {mismatch}\n" in result.stderr
    assert "GTID  at 126, 79 bytes  checksum bad" in result.stdout
    assert "ROTATE" in result.stdout


def test_damage_elsewhere_does_not_matter_to_a_single_event(tmp_path: Path) -> None:
    log = write_log(tmp_path, GTID_8_0_40[:-1] + b"\0", ROTATE_8_0_40)
    assert run(log, "--at", str(ROTATE_AT)).exit_code == 0


def test_a_malformed_event_ends_with_1_and_its_error_is_shown_with_it(tmp_path: Path) -> None:
    log = write_log(tmp_path, event(EventCode.PREVIOUS_GTIDS, PREVIOUS_GTIDS_UNTAGGED[:-1]), ROTATE_8_0_40)
    result = run(log, "--format", "jsonl")
    *_, malformed, rotate = map(json.loads, result.stdout.splitlines())
    assert result.exit_code == 1
    assert malformed["error"] == malformed["fields"][-2]["meaning"]
    assert (malformed["fields"][-2]["field"], rotate["type"]) == ("undecoded", "ROTATE")


def test_a_truncated_log_ends_with_1(tmp_path: Path) -> None:
    result = run(write_log(tmp_path, GTID_8_0_40[:50]))
    assert result.exit_code == 1
    assert "the log ends 50 bytes into a 79-byte event" in result.stdout


def test_standard_input_is_explained_too(log: Path) -> None:
    result = CliRunner().invoke(explain_command, ["-", "--at", str(ROTATE_AT)], input=log.read_bytes())
    assert result.stdout == run(log, "--at", str(ROTATE_AT)).stdout


def test_text_for_a_file_has_no_colors_and_keeps_to_the_width(log: Path) -> None:
    lines = run(log, "--width", "80").stdout.splitlines()
    assert max(map(len, lines)) == 80
    assert "\x1b" not in "".join(lines)
