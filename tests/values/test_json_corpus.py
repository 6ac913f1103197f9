"""JSON in the recorded logs."""

from __future__ import annotations

from binspark.values.json.binary import json_text
from binspark.values.json.diff import decode_json_diffs
from tests.corpus.cases import case_logs, witness
from tests.support.values.json_log import (
    ID_AND_DOCUMENT,
    Change,
    Diffs,
    Image,
    document,
    logged_rows,
    row_id,
    text_after,
)

TWO_DOCUMENTS = ("int", "json", "json", "int")

RowPosition = tuple[int, int, int]


def changed_paths(case: str) -> list[list[tuple[str, str]]]:
    [log] = case_logs(case)
    afters = [after for _, after in logged_rows(log, TWO_DOCUMENTS)]
    vectors = [value.vector for after in afters for value in after.values() if isinstance(value, Diffs)]
    decoded = [decode_json_diffs(vector) for vector in vectors]
    return [[(diff.operation.name, diff.path) for diff in diffs] for diffs in decoded if diffs]


def documents_found(changes: list[Change]) -> dict[RowPosition, str]:
    """Return each document that a change found, by row, column, and how often the row changed before."""
    rows = numbered([before or after for before, after in changes])
    befores = [(row, count, before) for (row, count), (before, _) in zip(rows, changes, strict=True) if before]
    return {
        (r, c, n): json_text(document(before, c)) for r, n, before in befores for c in (1, 2) if before[c] is not None
    }


def documents_left(changes: list[Change]) -> dict[RowPosition, str | None]:
    """Return each document that a change left, by the key under which the next change finds it."""
    rows = numbered([before or after for before, after in changes])
    afters = [(row, count + 1, *images) for (row, count), images in zip(rows, changes, strict=True) if images[1]]
    return {(r, c, n): text_after(b, a, c) for r, n, b, a in afters for c in (1, 2) if a[c] is not None}


def numbered(images: list[Image]) -> list[tuple[int, int]]:
    """Return the id of each image, and how often it came before."""
    ids = [row_id(image) for image in images]
    return [(number, ids[:index].count(number)) for index, number in enumerate(ids)]


def test_large_documents_print_as_the_servers_reader_prints_them() -> None:
    [log] = case_logs("mysql/json-large")
    texts = [json_text(document(after)) for _, after in logged_rows(log, ID_AND_DOCUMENT)]
    assert len(texts) == 2
    assert all(f"###   @2='{text}'" in witness(log) for text in texts)


def test_what_an_update_leaves_is_what_the_next_change_finds() -> None:
    [log] = case_logs("mysql/json-partial")
    changes = list(logged_rows(log, TWO_DOCUMENTS))
    found, left = documents_found(changes), documents_left(changes)
    matched = [(found[position], left[position]) for position in found.keys() & left.keys()]
    assert len(matched) > 10
    assert all(text == earlier for text, earlier in matched)


def test_minimal_images_contain_the_same_changes_as_full_ones() -> None:
    assert changed_paths("mysql/json-partial-minimal") == changed_paths("mysql/json-partial") != []
