"""The API reference: every public name has its entry."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tools.api_reference import MODULES, fence_tables


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, written by a process of its own, because the tool loads what is loaded on first use otherwise."""
    folder = tmp_path_factory.mktemp("reference")
    subprocess.run([sys.executable, "-m", "tools.api_reference", str(folder)], check=True)
    return folder


@pytest.mark.parametrize("module", [*MODULES, "binspark.testing.builder", "binspark.testing.servers"])
def test_every_public_name_has_an_entry(reference: Path, module: str) -> None:
    page = (reference / f"{module.replace('.', '/')}.html").read_text()
    public = getattr(import_module(module), "__all__", ())
    assert [name for name in public if f'id="{name}"' not in page] == []


def test_modules_that_are_not_public_have_no_page(reference: Path) -> None:
    pages = {path.relative_to(reference).as_posix() for path in reference.rglob("*.html")}
    assert not {page for page in pages if page.startswith(("binspark/wire", "binspark/files", "binspark/spark"))}


def test_a_table_keeps_its_lines() -> None:
    docstring = "Decode ROTATE.\n\noffset  bytes  field\n0       8      position\n\nThe end."
    fenced = "Decode ROTATE.\n\n```text\noffset  bytes  field\n0       8      position\n```\n\nThe end."
    assert fence_tables(docstring) == fenced


def test_examples_and_sentences_are_not_tables() -> None:
    docstring = "One line.\n\n>>> call(1,  2)\n3\n\nAnother line.\nAnd one more."
    assert fence_tables(docstring) == docstring
