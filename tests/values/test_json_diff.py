"""Diffs of JSON documents, applied."""

from __future__ import annotations

import pytest

from binspark.errors import Malformed, Truncated
from binspark.values.json.diff import JsonDiff, JsonOperation, apply_json_diffs, decode_json_diffs
from binspark.values.json.path import Cell, Member, parse_path
from tests.support.values.json_encoding import encode_diff, encode_json

REPLACE, INSERT, REMOVE = JsonOperation
DOCUMENT = encode_json({"a": 1, "b": [1, 2, 3], "cc": {"d": None}})


def applied(*diffs: bytes, before: bytes = DOCUMENT) -> str:
    return apply_json_diffs(before, b"".join(diffs))


def diff(operation: int, path: str, value: object) -> bytes:
    return encode_diff(operation, path, encode_json(value))


def test_the_bytes_of_a_diff() -> None:
    vector = bytes.fromhex("00 03 242e61 03 050900") + bytes.fromhex("02 06 242e625b315d")
    assert decode_json_diffs(vector) == [
        JsonDiff(JsonOperation.REPLACE, "$.a", b"\x05\x09\x00"),
        JsonDiff(JsonOperation.REMOVE, "$.b[1]", None),
    ]
    assert apply_json_diffs(DOCUMENT, vector) == '{"a": 9, "b": [1, 3], "cc": {"d": null}}'


def test_no_diffs_do_not_change_the_document() -> None:
    assert applied() == '{"a": 1, "b": [1, 2, 3], "cc": {"d": null}}'


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (diff(REPLACE, "$.a", [True]), '{"a": [true], "b": [1, 2, 3], "cc": {"d": null}}'),
        (diff(REPLACE, "$.b[last]", 9), '{"a": 1, "b": [1, 2, 9], "cc": {"d": null}}'),
        (diff(REPLACE, "$.b[last-2]", 9), '{"a": 1, "b": [9, 2, 3], "cc": {"d": null}}'),
        (diff(REPLACE, "$.cc.d", "x"), '{"a": 1, "b": [1, 2, 3], "cc": {"d": "x"}}'),
        (diff(INSERT, "$.b[0]", 9), '{"a": 1, "b": [9, 1, 2, 3], "cc": {"d": null}}'),
        (diff(INSERT, "$.b[7]", 9), '{"a": 1, "b": [1, 2, 3, 9], "cc": {"d": null}}'),
        (diff(INSERT, "$.b[last-7]", 9), '{"a": 1, "b": [9, 1, 2, 3], "cc": {"d": null}}'),
        (diff(INSERT, "$.b[last]", 9), '{"a": 1, "b": [1, 2, 9, 3], "cc": {"d": null}}'),
        (diff(INSERT, '$.""', 9), '{"": 9, "a": 1, "b": [1, 2, 3], "cc": {"d": null}}'),
        (diff(INSERT, "$.c", 9), '{"a": 1, "b": [1, 2, 3], "c": 9, "cc": {"d": null}}'),
        (diff(INSERT, "$.é", 9), '{"a": 1, "b": [1, 2, 3], "cc": {"d": null}, "é": 9}'),
        (diff(INSERT, "$.aaa", 9), '{"a": 1, "b": [1, 2, 3], "cc": {"d": null}, "aaa": 9}'),
        (encode_diff(REMOVE, "$.b[last-1]"), '{"a": 1, "b": [1, 3], "cc": {"d": null}}'),
        (encode_diff(REMOVE, "$.cc.d"), '{"a": 1, "b": [1, 2, 3], "cc": {}}'),
        (encode_diff(REPLACE, "$.a", b""), '{"a": null, "b": [1, 2, 3], "cc": {"d": null}}'),
    ],
)
def test_a_change_gives(change: bytes, text: str) -> None:
    assert applied(change) == text


def test_diffs_see_what_earlier_diffs_did() -> None:
    first_cell = encode_diff(REMOVE, "$.b[0]")
    changes = [diff(INSERT, "$.new", {"x": []}), diff(INSERT, "$.new.x[0]", 1), first_cell, first_cell]
    assert applied(*changes) == '{"a": 1, "b": [3], "cc": {"d": null}, "new": {"x": [1]}}'


@pytest.mark.parametrize(
    "change",
    [
        diff(REPLACE, "$", 1),
        diff(INSERT, "$", 1),
        encode_diff(REMOVE, "$"),
        diff(REPLACE, "$.missing", 1),
        diff(REPLACE, "$.b[3]", 1),
        diff(REPLACE, "$.b[last-3]", 1),
        diff(REPLACE, "$.b.x", 1),
        diff(REPLACE, "$[0]", 1),
        diff(INSERT, "$.a", 1),
        diff(INSERT, "$.a.b", 1),
        diff(INSERT, "$.missing.b", 1),
        diff(INSERT, "$.b[9][0]", 1),
        diff(INSERT, "$.b.x", 1),
        diff(INSERT, "$[0]", 1),
        encode_diff(REMOVE, "$.missing"),
        encode_diff(REMOVE, "$.b[3]"),
        encode_diff(REMOVE, "$.a[0]"),
        diff(3, "$.a", 1),
        encode_diff(REPLACE, "$.a", b"\x0d"),
    ],
)
def test_a_change_that_does_not_fit_the_document_is_malformed(change: bytes) -> None:
    with pytest.raises(Malformed):
        applied(change)


def test_every_shortened_vector_is_truncated() -> None:
    vector = diff(REPLACE, "$.a", "x" * 300)
    for length in range(1, len(vector)):
        with pytest.raises(Truncated):
            apply_json_diffs(DOCUMENT, vector[:length])


def test_diffs_cannot_nest_a_document_too_deep() -> None:
    deep: list[object] = []
    for _ in range(59):
        deep = [deep]
    changes = [diff(INSERT, "$" + "[0]" * 60, deep)]
    with pytest.raises(Malformed, match="more than 100 levels"):
        applied(*changes, before=encode_json(deep))


@pytest.mark.parametrize(
    ("path", "legs"),
    [
        ("$", ()),
        ("$.a", (Member("a"),)),
        ("$.a.$b_1", (Member("a"), Member("$b_1"))),
        ('$."two words"', (Member("two words"),)),
        ('$."a.b[0]"[0]', (Member("a.b[0]"), Cell(0))),
        ('$."\\"\\\\\\b\\t\\n\\f\\r\\u0001"', (Member('"\\\b\t\n\f\r\x01'),)),
        ('$.""', (Member(""),)),
        ("$.\u00a0", (Member("\u00a0"),)),
        ("$[0][4294967295]", (Cell(0), Cell(4294967295))),
        ("$[last][last-3]", (Cell(0, from_end=True), Cell(3, from_end=True))),
    ],
)
def test_a_path_leads(path: str, legs: tuple[Member | Cell, ...]) -> None:
    assert parse_path(path) == legs


@pytest.mark.parametrize(
    "path", ["", "a", " $", "$ ", "$a", "$.*", "$[*]", "$**.a", "$[1 to 2]", "$[ 1]", "$.a b", "$..a"]
)
def test_a_path_that_no_server_logs_is_malformed(path: str) -> None:
    with pytest.raises(Malformed):
        parse_path(path)


@pytest.mark.parametrize(
    "path", ["$[", "$[]", "$[1", "$[-1]", "$[4294967296]", "$[99999999999]", "$[last+1]", "$[last-]", "$[١]"]
)
def test_a_cell_that_no_server_logs_is_malformed(path: str) -> None:
    with pytest.raises(Malformed):
        parse_path(path)


@pytest.mark.parametrize("path", ['$."a', '$."a"b', '$."\n"', r'$."\x"', r'$."\ud800"', r'$."\u0041"', r"$.a\u0041"])
def test_a_name_that_no_server_logs_is_malformed(path: str) -> None:
    with pytest.raises(Malformed):
        parse_path(path)


def test_a_path_that_is_not_text_is_malformed() -> None:
    with pytest.raises(Malformed):
        decode_json_diffs(b"\x02\x02$\xff")
