"""Write the API reference: a page for each public module, made of its docstrings.

    python -m tools.api_reference [FOLDER]

`make docs` writes it to build/api. A public name that cannot be loaded is an error; that each has a docstring is
checked by ruff.
"""

from __future__ import annotations

import re
import sys
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pdoc
import pdoc.render
from jinja2 import pass_context
from jinja2.runtime import Context
from pdoc.render_helpers import to_markdown_with_context

import binspark

MODULES = (
    "binspark",
    "binspark.event",
    "binspark.gtid",
    "binspark.errors",
    "binspark.testing",
)
"""The public modules, as in docs/versions.md; pdoc adds the packages below `binspark.testing`."""

DEFAULT_FOLDER = Path("build/api")
_COLUMNS = re.compile(r"\S {2,}\S")


def write_reference(folder: Path) -> None:
    """Write the pages of all public modules into a folder."""
    for name in MODULES:
        load_public_names(import_module(name))
    pdoc.render.configure(docformat="markdown", show_source=False, footer_text=f"binspark {binspark.__version__}")
    pdoc.render.env.filters["to_markdown"] = to_markdown_with_tables
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Error parsing type annotation")  # fields of named tuples: shown as written
        pdoc.pdoc(*MODULES, output_directory=folder)


def load_public_names(module: ModuleType) -> None:
    """Load all names of `__all__` into a module: pdoc does not see those that are loaded on first use.

    A function may have the name of a package, as `binspark.mirror` has: the function is public.
    """
    load = getattr(module, "__getattr__", None) or partial(getattr, module)
    for name in getattr(module, "__all__", ()):
        setattr(module, name, load(name))


@pass_context
def to_markdown_with_tables(context: Context, docstring: str) -> str:
    """Return a docstring as Markdown."""
    return fence_tables(to_markdown_with_context(context, docstring))


def fence_tables(docstring: str) -> str:
    """Fence the tables of a docstring, which are aligned by two or more spaces: Markdown would join their lines."""
    return "\n\n".join(_fenced(block) if _is_table(block) else block for block in docstring.split("\n\n"))


def _is_table(block: str) -> bool:
    return not block.startswith((">>>", "```", " ")) and _COLUMNS.search(block) is not None


def _fenced(block: str) -> str:
    return f"```text\n{block}\n```"


if __name__ == "__main__":
    target = Path(*sys.argv[1:2]) if sys.argv[1:] else DEFAULT_FOLDER
    write_reference(target)
    print(target / "index.html")
