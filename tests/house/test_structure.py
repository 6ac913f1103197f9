"""Rules about the tree itself: where tests are, how long a file is, whose private names are used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PACKAGES = sorted(folder.parent.name for folder in (ROOT / "src/binspark").glob("*/__init__.py"))

MAX_LINES = 450  # a file that is cut in two to stay small reads worse than one of this length

PUBLIC_UNDERSCORES = frozenset({"_asdict", "_exit", "_fields", "_getframe", "_make", "_replace", "_value2member_map_"})
"""Documented names of Python that begin with an underscore all the same."""

FOREIGN_PRIVATE_NAMES = {
    "src/binspark/server/connection.py": {
        *("_execute_command", "_read_packet"),  # of LOAD DATA LOCAL, for which PyMySQL would send any file
        "_sock",  # which a stream takes over
    },
    "src/binspark/spark/session.py": {"_active_spark_context", "_gateway"},  # only there a running Spark can be found
}
"""Private names of libraries that offer no public way."""


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_has_a_package_of_tests(package: str) -> None:
    assert list((ROOT / "tests" / package).glob("test_*.py")) != []


def test_no_source_file_is_long() -> None:
    lengths = {relative(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: length for path, length in lengths.items() if length > MAX_LINES} == {}


def test_private_attributes_are_used_only_where_they_are_defined() -> None:
    found = [use for path in SOURCES for use in foreign_private_attributes(path)]
    assert found == []


def test_private_names_are_not_imported() -> None:
    assert [use for path in SOURCES for use in private_imports(path)] == []


def test_the_architecture_names_modules_that_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    names = {name for name in re.findall(r"`([a-z_0-9]+(?:\.[a-z_0-9]+)+)`", text) if name.split(".")[0] in PACKAGES}
    missing = {name for name in names if not is_module(ROOT / "src/binspark" / name.replace(".", "/"))}
    assert names != set()
    assert missing == set()


def test_the_architecture_names_every_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert [package for package in PACKAGES if f"`{package}`" not in text] == []


def is_module(path: Path) -> bool:
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def foreign_private_attributes(path: Path) -> Iterator[str]:
    """Yield each `x._name` where x is not the object itself and no class of the module defines `_name`."""
    tree = ast.parse(path.read_text())
    known = defined_names(tree) | PUBLIC_UNDERSCORES | FOREIGN_PRIVATE_NAMES.get(relative(path), set())
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or is_own(node.value):
            continue
        if is_private(node.attr) and node.attr not in known:
            yield f"{relative(path)}:{node.lineno}: {ast.unparse(node)}"


def private_imports(path: Path) -> Iterator[str]:
    """Yield each `from module import _name`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{relative(path)}:{node.lineno}: {each.name}" for each in node.names if is_private(each.name))


def defined_names(tree: ast.Module) -> set[str]:
    """Return the attributes that the classes of a module define: their methods, fields and what they assign to self."""
    names: set[str] = set()
    for definition in ast.walk(tree):
        if isinstance(definition, ast.ClassDef):
            for node in ast.walk(definition):
                if isinstance(node, ast.FunctionDef):
                    names.add(node.name)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
                    names.add(node.attr)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    names.add(node.value)  # a name in `__slots__`
    return names


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_own(node: ast.expr) -> bool:
    """Return whether an expression is the object or class itself, or its base."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
