"""`examples/tour.ipynb` has the steps of the demo, with their output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from binspark.cli.demo import QUICK_START, STEPS

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_notebook_has_the_steps_of_the_demo() -> None:
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    assert sources[3::2] == [step.code for step in STEPS]
    assert sources[2::2] == [f"## {step.title}\n\n{step.text}" for step in STEPS]


@pytest.mark.slow
def test_a_new_run_shows_what_the_notebook_shows(tmp_path: Path) -> None:
    made = tmp_path / "tour.ipynb"
    command = [sys.executable, str(EXAMPLES / "record_notebook.py"), str(made)]
    environment = os.environ | {"JAVA_TOOL_OPTIONS": QUICK_START, "TMPDIR": str(tmp_path)}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    assert json.loads(made.read_text()) == json.loads((EXAMPLES / "tour.ipynb").read_text())
