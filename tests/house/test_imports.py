"""What loading the package costs, and what it exposes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import binspark

HEAVY = ("numba", "pyarrow", "pyspark", "numpy", "pymysql")


def modules_after(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after running code."""
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.splitlines())


@pytest.mark.parametrize("name", HEAVY)
def test_importing_binspark_loads_no_heavy_library(name: str) -> None:
    assert name not in modules_after("import binspark")


@pytest.mark.parametrize("name", HEAVY)
def test_asking_for_help_loads_no_heavy_library(name: str) -> None:
    code = "from binspark.cli.main import exit_code; assert exit_code(['--help']) == 0"
    assert name not in modules_after(code)


@pytest.mark.parametrize("name", HEAVY)
def test_reading_events_loads_no_heavy_library(name: str) -> None:
    assert name not in modules_after("import binspark; binspark.events; binspark.GtidSet")


@pytest.mark.parametrize("name", binspark.__all__)
def test_every_public_name_can_be_reached(name: str) -> None:
    assert getattr(binspark, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="evnets"):
        binspark.evnets  # noqa: B018
