"""Names of options: one for each, spelled as its surface spells names; misspelled and old ones."""

from __future__ import annotations

import warnings

import pytest

import binspark
from binspark.cli.demo import SHOP
from binspark.errors import OptionError
from binspark.options import values
from binspark.options.option import Option, OptionTable, Surface, suggestion

OLD = Option(name="max_size", parse=values.size, help="", old_names={Surface.PYTHON: "most", Surface.SPARK: "maxBytes"})
NEW = Option(name="view", parse=values.text, help="")


def ignore(_old: str, _new: str) -> None:
    """Take no notice of an old name."""


@pytest.mark.parametrize(
    ("surface", "spelled"),
    [
        (Surface.COMMAND_LINE, "--max-rows-per-batch"),
        (Surface.PYTHON, "max_rows_per_batch"),
        (Surface.SPARK, "maxRowsPerBatch"),
    ],
)
def test_a_name_is_spelled_as_its_surface_spells_names(surface: Surface, spelled: str) -> None:
    assert surface.spell("max_rows_per_batch") == spelled


@pytest.mark.parametrize(
    ("given", "hint"),
    [("tabels", "; did you mean tables?"), ("EXCLUDETABLE", "; did you mean excludeTables?"), ("qqq", "")],
)
def test_the_most_similar_name_is_suggested_in_any_case(given: str, hint: str) -> None:
    assert suggestion(given, ["tables", "excludeTables", "view"]) == hint


def test_an_unknown_name_is_an_error_with_a_suggestion() -> None:
    table = OptionTable([OLD, NEW], Surface.SPARK, ignore, "the source has no option")
    with pytest.raises(OptionError, match=r"^the source has no option maxsiz; did you mean maxSize\?$"):
        table.find("maxsiz")


def test_spark_ignores_case_and_python_does_not() -> None:
    assert OptionTable([OLD, NEW], Surface.SPARK, ignore).find("MAXSIZE") is OLD
    with pytest.raises(OptionError, match="there is no option View; did you mean view"):
        OptionTable([OLD, NEW], Surface.PYTHON, ignore).find("View")


def test_an_option_that_a_surface_does_not_have_is_unknown_there() -> None:
    option = Option(name="view", parse=values.text, help="", surfaces=frozenset({Surface.SPARK}))
    with pytest.raises(OptionError, match="there is no option view"):
        OptionTable([option], Surface.PYTHON, ignore).find("view")


def test_an_old_name_is_found_and_reported_with_the_new_one() -> None:
    reported: list[tuple[str, str]] = []
    table = OptionTable([OLD, NEW], Surface.SPARK, lambda old, new: reported.append((old, new)))
    assert table.find("maxbytes") is OLD
    assert reported == [("maxBytes", "maxSize")]


def test_an_old_name_beside_its_new_one_is_an_error() -> None:
    table = OptionTable([OLD, NEW], Surface.PYTHON, ignore)
    with pytest.raises(OptionError, match=r"^max_size and most are the same option; give only one of them$"):
        table.find_all({"max_size": 1, "view": "x", "most": 2})


def test_a_value_that_is_not_valid_is_an_error_with_the_name_on_its_surface() -> None:
    with pytest.raises(OptionError, match=r"^--max-size must be positive, got 0$") as error:
        OLD.read(0, Surface.COMMAND_LINE)
    assert (error.value.option, error.value.problem) == ("--max-size", "must be positive, got 0")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"start_time": "2026-11-15 09:02:40"}, {"start_datetime": "2026-11-15 09:02:40"}),
        ({"stop_time": "2026-11-15 09:02:40"}, {"stop_datetime": "2026-11-15 09:02:40"}),
        ({"schema": None}, {"schema_file": None}),
    ],
    ids=lambda options: next(iter(options)),
)
def test_old_names_in_python_mean_the_same_and_warn_the_caller(old: dict[str, object], new: dict[str, object]) -> None:
    with pytest.warns(DeprecationWarning, match=f"^{next(iter(old))} is deprecated; use {next(iter(new))}$") as warned:
        changes = list(binspark.rows(SHOP / "mysql", **old))  # type: ignore[arg-type]
    assert changes == list(binspark.rows(SHOP / "mysql", **new))  # type: ignore[arg-type]
    assert [warning.filename for warning in warned] == [__file__]


def test_old_and_new_name_together_are_an_error_in_python() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.raises(OptionError, match=r"^start_datetime and start_time are the same option"):
            binspark.rows(SHOP / "mysql", start_datetime=1, start_time=2)  # type: ignore[call-arg]
    with pytest.raises(OptionError, match=r"^schema and schema_file are the same option"):
        binspark.batches(SHOP / "mysql", schema_file="a.sql", schema="b.sql")  # type: ignore[call-overload]
