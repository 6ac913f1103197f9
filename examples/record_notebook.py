"""Write `tour.ipynb`: the steps of `binspark demo` as cells, with their output.

    python examples/record_notebook.py [FILE]

Run it when a step changes. A test compares the notebook with a new run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from binspark.cli.demo import STEPS

NOTEBOOK = Path(__file__).with_name("tour.ipynb")
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
WELCOME = """\
# A day in a small shop, read from its binary logs

Customers ordered, stock decreased, a column was added at noon, and then somebody deleted too much. The logs of that
day, written by MySQL 9.7 and by MariaDB, ship with binspark. This notebook is what `binspark demo` runs."""
PATHS = """\
import tempfile
from importlib.resources import files

shop = files("binspark") / "data" / "shop"
output = tempfile.mkdtemp()"""


def make_notebook() -> NotebookNode:
    """Return the notebook, without output."""
    cells = [new_markdown_cell(WELCOME, id="welcome"), new_code_cell(PATHS, id="paths")]
    for number, step in enumerate(STEPS, start=1):
        cells.append(new_markdown_cell(f"## {step.title}\n\n{step.text}", id=f"text-{number}"))
        cells.append(new_code_cell(step.code, id=f"code-{number}"))
    notebook: NotebookNode = new_notebook(cells=cells, metadata=KERNEL)
    return notebook


def run_notebook(notebook: NotebookNode) -> None:
    """Run every cell and keep its output, without times."""
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False, coalesce_streams=True)
    client.execute()
    notebook.metadata = KERNEL


def main(target: str | Path = NOTEBOOK) -> None:
    notebook = make_notebook()
    run_notebook(notebook)
    nbformat.write(notebook, str(target))


if __name__ == "__main__":
    main(*sys.argv[1:2])
