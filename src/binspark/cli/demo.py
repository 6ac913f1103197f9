"""`binspark demo`: a short tour, on the logs that ship with the package."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.rule import Rule

from binspark.cli.demo_spark import spark_tour, what_spark_lacks
from binspark.cli.main import exit_code
from binspark.errors import OptionError

SHOP = Path(__file__).parents[1] / "data" / "shop"

TOUR = (
    ("What is in these logs?", ("stat", "{shop}/mysql/binlog.index")),
    ("Is anything missing or damaged?", ("verify", "{shop}/mysql/binlog.index")),
    ("What happened last?", ("transactions", "{shop}/mysql/binlog.000003")),
    ("Every event of the transaction that deleted all orders", ("events", "--stop-position", "6383", "{last}")),
    ("The rows of the order that came next", ("rows", "--start-position", "6383", "{last}")),
    ("All changes as Parquet, one folder a table", ("export", "{shop}/mysql/binlog.index", "-o", "{folder}/parquet")),
    ("One event, byte by byte: its global transaction identifier", ("explain", "--at", "198", "{last}")),
    ("The same shop on MariaDB: another family, the same commands", ("transactions", "{shop}/mariadb/binlog.000003")),
    ("Who is missing what? GTID sets are values to compute with", ("gtid", "subtract", "{uuid}:1-159", "{uuid}:1-157")),
)
UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


@click.command("demo")
@click.option("--no-spark", is_flag=True, help="Show the commands instead, which need no Spark.")
@click.option("-o", "--output", type=click.Path(file_okay=False), help="Keep the Parquet files in this folder.")
def demo_command(no_spark: bool, output: str | None) -> int:
    """Show what binspark does, on a small shop's day that MySQL and MariaDB recorded."""
    if output is not None and os.path.isdir(output) and os.listdir(output):
        raise OptionError(f"{output} is not empty")
    console = Console(highlight=False, markup=False)
    lacking = None if no_spark else what_spark_lacks()
    with TemporaryDirectory(prefix="binspark-demo-") as folder:
        if no_spark or lacking:
            worst = command_tour(console, output or folder)
        else:
            worst = 0
            spark_tour(console, str(SHOP), output or folder)
    console.print(f"The logs are in {SHOP}.", soft_wrap=True)
    if lacking:
        console.print(f"Spark was left out. It needs: {lacking}", soft_wrap=True)
    elif not no_spark:
        console.print("What the command line does without Spark: binspark demo --no-spark", soft_wrap=True)
    return worst


def command_tour(console: Console, output: str) -> int:
    """Run the commands; return the worst of their exit codes."""
    worst = 0
    places = {"shop": str(SHOP), "last": f"{SHOP}/mysql/binlog.000003", "uuid": UUID, "folder": output}
    for title, command in TOUR:
        arguments = [word.format(**places) for word in command]
        shown = " ".join(arguments).replace(str(SHOP), "shop").replace(f"{output}/", "")
        console.print(Rule(title, align="left"))
        console.print(f"$ binspark {shown}\n", style="bold")
        worst = max(worst, exit_code(arguments))
        console.print()
    return worst
