"""What loading the package costs, and what it exposes."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import binspark
from binspark.cli.main import COMMANDS
from tests.support.columns.many_tables import log_of_many_tables

HEAVY = {"numba", "pyarrow", "pyspark", "numpy", "pymysql"}


def modules_after(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after running code."""
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.splitlines())


@pytest.mark.parametrize(
    "code",
    [
        "import binspark",
        "from binspark.cli.main import exit_code; assert exit_code(['--help']) == 0",
        "import binspark; binspark.events; binspark.GtidSet",
        "import binspark; binspark.connect; binspark.follow; binspark.open_archiver",
    ],
    ids=["importing", "help", "reading events", "functions for servers"],
)
def test_no_heavy_library_is_loaded(code: str) -> None:
    assert modules_after(code) & HEAVY == set()


def test_the_help_of_a_command_loads_neither_arrow_nor_spark_nor_a_driver() -> None:
    """All commands in one process: each has nothing loaded that the next could have loaded."""
    code = f"""
import sys
from binspark.cli.main import exit_code
for command in {list(COMMANDS)}:
    assert exit_code([command, "--help"]) == 0
    assert not {HEAVY - {"numpy"}} & sys.modules.keys(), command
"""
    assert "binspark.cli.main" in modules_after(code)


def test_rows_without_a_condition_load_no_functions_of_arrow(tmp_path: Path) -> None:
    [log] = log_of_many_tables(1, 1).save(tmp_path)
    code = f"import binspark; assert list(binspark.batches({str(log)!r}, tables='shop.*'))"
    assert "pyarrow.compute" not in modules_after(code)


@pytest.mark.parametrize("name", binspark.__all__)
def test_every_public_name_can_be_reached(name: str) -> None:
    assert getattr(binspark, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="evnets"):
        binspark.evnets  # noqa: B018


LAZY = ("changes", "event", "files", "schema", "transactions", "values")


@pytest.mark.parametrize("package", LAZY)
def test_a_lazy_package_has_all_its_names_and_none_of_a_module(package: str) -> None:
    module = importlib.import_module(f"binspark.{package}")
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert not {info.name for info in pkgutil.iter_modules(module.__path__)} & set(module.__all__)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        module.nothing_of_the_kind  # noqa: B018 (the access is the test)
