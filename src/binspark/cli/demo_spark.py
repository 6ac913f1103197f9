"""The tour with Spark: each step says what it is about, shows its code, and runs it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax

from binspark.cli.demo_steps import STEPS, Step

QUICK_START = "-XX:TieredStopAtLevel=1"
"""For Java: compile quickly rather than well. No query of the tour lives long enough to gain from more."""


def what_spark_lacks() -> str | None:
    """Tell what must be installed before Spark runs; None where nothing is missing."""
    if find_spec("pyspark") is None:
        return "pip install 'binspark[spark]'"
    from binspark.spark.session import has_java

    return None if has_java() else "Java 17 or later, on the PATH or in JAVA_HOME"


def spark_tour(console: Console, shop: str, output: str) -> None:
    """Run all steps, in one session that ends with them."""
    console.print(f'shop = "{shop}"\noutput = "{output}"\n', style="dim", soft_wrap=True)
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK_START)
    names: dict[str, Any] = {"shop": shop, "output": output}
    try:
        for step in STEPS:
            run_step(console, step, names)
    finally:
        if "spark" in names:
            names["spark"].stop()


def run_step(console: Console, step: Step, names: dict[str, Any]) -> None:
    """Run the code that is shown, and no other."""
    console.print(Rule(step.title, align="left"))
    console.print(f"{step.text}\n", style="italic", soft_wrap=True)
    console.print(Syntax(step.code, "python", theme="ansi_dark", background_color="default"), soft_wrap=True)
    console.print()
    exec(compile(step.code, f"<{step.title}>", "exec"), names)  # noqa: S102 (it is our own text)
    console.print()
