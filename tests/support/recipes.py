"""The commands of docs/recipes.md."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

RECIPES = Path(__file__).parents[2] / "docs" / "recipes.md"


def recipe_commands(title: str) -> list[list[str]]:
    """Return the commands of a recipe, in their order, each as words; `> file` and pipes are words of it, too."""
    _, _, rest = RECIPES.read_text().partition(f"\n## {title}\n")
    assert rest, f"docs/recipes.md has no recipe {title!r}"
    blocks = re.findall(r"^```sh\n(.*?)^```$", rest.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line]
