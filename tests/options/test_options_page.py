"""`docs/options.md`: every option of every surface is on it, and it is what the code says."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_type_hints

import pytest

from binspark.changes.selection_options import SELECTION_OPTIONS, BatchOptions
from binspark.files.read import ReadOptions
from binspark.live import ArchiveArguments, connect, follow, open_archiver
from binspark.options.mirror import MIRROR_OPTIONS, MirrorArguments
from binspark.options.option import Surface
from binspark.options.server import ARCHIVE_OPTIONS, SERVER_OPTIONS, STREAM_OPTIONS, ServerArguments
from binspark.spark.options import SPARK_OPTIONS
from tools.options_page import click_options, old_names, page

PAGE = Path(__file__).parents[2] / "docs" / "options.md"
CALLS = {"config", "target", "on_heartbeat", "on_progress", "storage", "server", "options"}
"""Parameters that are not options: what a function is called with, and what it calls."""


def names_on_page(column: int) -> set[str]:
    rows = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row[column])}


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page() + "\n", "run: python -m tools.options_page > docs/options.md"


def test_every_option_of_a_command_is_on_the_page() -> None:
    names = {name for options in click_options().values() for option in options for name in option.opts}
    assert names - names_on_page(1) == set()


def test_every_argument_in_python_is_on_the_page() -> None:
    arguments = {
        name for function in (connect, follow, open_archiver) for name in inspect.signature(function).parameters
    }
    typed = {*BatchOptions.__annotations__, *ServerArguments.__annotations__, *ArchiveArguments.__annotations__}
    typed |= set(MirrorArguments.__annotations__)
    names = (arguments - CALLS) | typed | set(get_type_hints(ReadOptions)) | {"schema_file", "table"}
    assert names - names_on_page(2) == set()


def test_every_option_of_spark_is_on_the_page() -> None:
    options = (*SPARK_OPTIONS, *SELECTION_OPTIONS, *SERVER_OPTIONS)
    names = {option.name_on(Surface.SPARK) for option in options if Surface.SPARK in option.surfaces}
    assert names - names_on_page(1) - names_on_page(3) == set()


@pytest.mark.parametrize("surface", Surface)
def test_a_name_has_one_meaning(surface: Surface) -> None:
    tables = (*SELECTION_OPTIONS, *SERVER_OPTIONS, *STREAM_OPTIONS, *ARCHIVE_OPTIONS, *MIRROR_OPTIONS)
    names = [option.name_on(surface) for option in tables if surface in option.surfaces]
    assert len(names) == len(set(names))


def test_an_option_has_one_name_on_all_surfaces() -> None:
    irregular = {
        option.name: option.spelling
        for option in (*SELECTION_OPTIONS, *SERVER_OPTIONS, *STREAM_OPTIONS, *ARCHIVE_OPTIONS, *MIRROR_OPTIONS)
        if option.spelling
    }
    assert irregular == {"start": {Surface.SPARK: "startingOffsets"}}  # as Spark's own streaming sources call it


def test_commands_spell_the_names_of_the_tables() -> None:
    tables = (*SELECTION_OPTIONS, *SERVER_OPTIONS, *STREAM_OPTIONS, *ARCHIVE_OPTIONS, *MIRROR_OPTIONS)
    spelled = {option.name: option.name_on(Surface.COMMAND_LINE) for option in tables}
    found = {
        (option.name, option.opts[-1])
        for options in click_options().values()
        for option in options
        if option.name in spelled
    }
    assert {(name, spelled[name]) for name, _ in found if name} == found


def test_no_old_name_is_a_current_name_of_the_same_command() -> None:
    current = {name: {opt for option in options for opt in option.opts} for name, options in click_options().items()}
    for surface, old, _new in old_names():
        for command in re.findall(r"`(\w+)`", surface):
            assert old not in current[command]
