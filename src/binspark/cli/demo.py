"""`binspark demo`: a short tour, on the logs that ship with the package."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.rule import Rule

from binspark.cli.main import exit_code

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
def demo_command() -> int:
    """Show what binspark does, on a small shop's day that MySQL and MariaDB recorded."""
    console = Console(highlight=False)
    worst = 0
    with TemporaryDirectory() as folder:
        places = {"shop": str(SHOP), "last": f"{SHOP}/mysql/binlog.000003", "uuid": UUID, "folder": folder}
        for title, command in TOUR:
            arguments = [word.format(**places) for word in command]
            shown = " ".join(arguments).replace(str(SHOP), "shop").replace(f"{folder}/", "")
            console.print(Rule(title, align="left"))
            console.print(f"$ binspark {shown}\n", style="bold")
            worst = max(worst, exit_code(arguments))
            console.print()
    console.print(f"The logs are in {SHOP}.")
    return worst
