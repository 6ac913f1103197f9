"""The folder of an export: names of tables as names of folders, and files that appear all at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from binspark.errors import OptionError
from binspark.export.folder import OutputFolder, folder_name


def files_in(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    ("schema", "name", "folder"),
    [
        ("shop", "orders", "shop.orders"),
        ("a.b", "c", "a%2Eb.c"),
        ("a", "b.c", "a.b%2Ec"),
        ("..", "/etc", "%2E%2E.%2Fetc"),
        ("_hidden", "_t", "%5Fhidden.%5Ft"),
        ("shop", "größe 1", "shop.größe%201"),
    ],
)
def test_names_become_folders(schema: str, name: str, folder: str) -> None:
    assert folder_name(schema, name) == folder


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.text(max_size=20).filter(str.isprintable))
@example("", "")
@example("..", "")
@example("../../etc", "/passwd")
def test_any_names_are_one_folder_that_readers_see(schema: str, table: str) -> None:
    name = folder_name(schema, table)
    assert len(Path("out", name).parts) == 2
    assert name not in (".", "..")
    assert name[0] not in "._"


def test_long_names_stay_short_enough_and_apart() -> None:
    names = {folder_name("字" * 64, "字" * 63 + last) for last in "ab"}
    assert len(names) == 2
    assert max(len(name.encode()) for name in names) <= 200


def test_files_have_their_names_once_all_are_complete(tmp_path: Path) -> None:
    with OutputFolder(tmp_path / "out") as folder:
        for content in (b"first", b"second"):
            folder.new_part("shop", "orders").write_bytes(content)
        assert [Path(name).name[0] for name in files_in(tmp_path)] == [".", "."]
        folder.publish()
    assert files_in(tmp_path / "out") == ["shop.orders/part-00000.parquet", "shop.orders/part-00001.parquet"]
    assert (tmp_path / "out/shop.orders/part-00001.parquet").read_bytes() == b"second"


def test_without_publishing_nothing_remains(tmp_path: Path) -> None:
    with OutputFolder(tmp_path / "out") as folder:
        folder.new_part("shop", "orders").write_bytes(b"unfinished")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_export_left_is_removed(tmp_path: Path) -> None:
    OutputFolder(tmp_path).new_part("shop", "orders").write_bytes(b"unfinished")
    assert len(files_in(tmp_path)) == 1
    with OutputFolder(tmp_path):
        assert files_in(tmp_path) == []


def test_files_of_others_are_kept_when_tables_are_replaced(tmp_path: Path) -> None:
    table = tmp_path / "shop.orders"
    table.mkdir()
    for name in ("part-00000.parquet", "part-00001.parquet", "notes.txt"):
        (table / name).write_bytes(b"old")
    with OutputFolder(tmp_path, overwrite=True) as folder:
        folder.new_part("shop", "orders").write_bytes(b"new")
        published = folder.publish()
    assert published == (table / "part-00000.parquet",)
    assert published[0].read_bytes() == b"new"
    assert files_in(table) == ["notes.txt", "part-00000.parquet"]


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(OptionError, match="not empty"), OutputFolder(tmp_path):
        pass
    assert files_in(tmp_path) == ["notes.txt"]
