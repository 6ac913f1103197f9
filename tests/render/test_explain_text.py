"""Explanations as text: the strip and the box, both within the width."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from binspark.frames import EventCode
from binspark.render.explain.explanation import Explanation
from binspark.render.explain.text import STYLES, fit, fold, hex_of, printable, quoted, text_lines
from tests.corpus.cases import case_logs
from tests.support.render.explain_logs import GTID_8_0_40, ROTATE_8_0_40, event, explain_all, explain_one

ROTATE_AS_TEXT = """\
ROTATE  at 126, 44 bytes  checksum ok
binlog.000025:4
┌──────────┬─────────────┬──────────┬──────────┐
│ header   │ post-header │ body     │ checksum │
│ 19 bytes │ 8 bytes     │ 13 bytes │ 4 bytes  │
└──────────┴─────────────┴──────────┴──────────┘
126        145           153        166        170
┌────────┬─────────────────────────┬───────────────┬─────────────────┬───────────────────────────────────────┐
│ offset │ bytes                   │ field         │ value           │ meaning                               │
├─ header · 19 bytes ──────────────┼───────────────┼─────────────────┼───────────────────────────────────────┤
│ 126    │ 39 10 35 68             │ timestamp     │ 1748308025      │ 2025-05-27 01:07:05 UTC               │
│ 130    │ 04                      │ type_code     │ 4               │ ROTATE                                │
│ 131    │ 01 00 00 00             │ server_id     │ 1               │ the server that first wrote the event │
│ 135    │ 2c 00 00 00             │ event_size    │ 44              │ 44 bytes, header and checksum         │
│        │                         │               │                 │ included                              │
│ 139    │ c0 05 00 00             │ next_position │ 1472            │ where the next event begins           │
│ 143    │ 00 00                   │ flags         │ 0               │ no flags                              │
├─ post-header · 8 bytes ──────────┼───────────────┼─────────────────┼───────────────────────────────────────┤
│ 145    │ 04 00 00 00 00 00 00 00 │ position      │ 4               │ where the first event of the next     │
│        │                         │               │                 │ file begins                           │
├─ body · 13 bytes ────────────────┼───────────────┼─────────────────┼───────────────────────────────────────┤
│ 153    │ 62 69 6e 6c 6f 67 2e 30 │ next_file     │ "binlog.000025" │ name of the next file, to the end of  │
│        │ 30 30 30 32 35          │               │                 │ the body                              │
├─ checksum · 4 bytes ─────────────┼───────────────┼─────────────────┼───────────────────────────────────────┤
│ 166    │ de 7e 71 10             │ checksum      │ 0x10717ede      │ ok: stored 0x10717ede, computed       │
│        │                         │               │                 │ 0x10717ede                            │
└────────┴─────────────────────────┴───────────────┴─────────────────┴───────────────────────────────────────┘
"""


def plain(explanation: Explanation, width: int) -> list[str]:
    return ["".join(part.text for part in line) for line in text_lines(explanation, width)]


def test_a_rotate_event_as_text(tmp_path: Path) -> None:
    assert "\n".join(plain(explain_one(tmp_path, ROTATE_8_0_40), 110)) + "\n" == ROTATE_AS_TEXT


def test_in_a_narrow_terminal_the_meaning_is_below_the_value(tmp_path: Path) -> None:
    lines = plain(explain_one(tmp_path, ROTATE_8_0_40), 64)
    at = lines.index("│ 130    │ 04          │ type_code     │ 4                     │")
    assert lines[at + 1] == "│        │             │               │ ROTATE                │"


@pytest.mark.parametrize("width", [64, 80, 109, 110, 132, 160])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    logs = [*case_logs("mysql/types"), *case_logs("mysql/session-context"), *case_logs("mysql/compressed")]
    lines = [line for log in logs for explanation in explain_all(log) for line in plain(explanation, width)]
    assert max(map(cell_len, lines)) == width


def test_every_style_is_known(tmp_path: Path) -> None:
    broken = event(EventCode.XID, b"\x01")[:-1] + b"\0"
    explanations = [explain_one(tmp_path, broken), explain_one(tmp_path, GTID_8_0_40)]
    used = {part.style for explanation in explanations for line in text_lines(explanation, 80) for part in line}
    assert {"bad", "ok", "section", "value"} <= used <= set(STYLES)


def test_an_error_is_shown_before_the_box_and_beside_the_bytes(tmp_path: Path) -> None:
    lines = plain(explain_one(tmp_path, event(EventCode.XID, b"\x01")), 120)
    assert lines[1] == "error: xid needs 8 bytes, only 1 remain (byte 19 of the event)"
    assert [line for line in lines if "undecoded" in line and "xid needs 8 bytes" in line] != []


def test_nothing_in_a_log_reaches_the_terminal_as_a_control_sequence(tmp_path: Path) -> None:
    text = "\n".join(plain(explain_one(tmp_path, event(EventCode.ANNOTATE_ROWS, b"a\x1b[2J\nb\r")), 120))
    assert "\x1b" not in text
    assert "\r" not in text
    assert '"a\\x1b[2J\\nb\\r"' in text


def test_long_values_are_shortened_with_their_length() -> None:
    assert hex_of(bytes(16)) == " ".join(["00"] * 16)
    assert hex_of(bytes(1017)) == " ".join(["00"] * 16) + " … 1,017 bytes"
    assert quoted("x" * 400) == '"' + "x" * 400 + '"'
    assert quoted("x" * 5000) == '"' + "x" * 400 + '" … 5,000 characters'


def test_unprintable_characters_are_escaped() -> None:
    assert printable("Käse 東京") == "Käse 東京"
    assert printable("\u202eevil\x00") == "\\u202eevil\\x00"


def test_text_is_folded_between_words_and_long_words_after_a_dot() -> None:
    assert fold("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert fold("status_vars[11].charset", 20) == ["status_vars[11].", "charset"]
    assert fold("0123456789abcdef", 10) == ["0123456789", "abcdef"]
    assert fold("東京東京東京", 8) == ["東京東京", "東京"]
    assert fold("", 8) == []


def test_the_widest_column_shrinks_first_and_the_last_gets_the_rest() -> None:
    assert fit((4, 40, 10), (4, 5, 5), 40) == (4, 16, 10)
    assert fit((4, 4, 4), (4, 4, 4), 40) == (4, 4, 22)
