"""`binspark demo`: a short tour, on the logs that ship with the package."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax

from binspark.cli.main import exit_code
from binspark.errors import OptionError


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the tour: its title, what a newcomer should know, and its code."""

    title: str
    text: str
    code: str


STEPS = (
    Step(
        "Start Spark",
        "On this machine, on loopback only. Spark finds the data source `binlog` by itself.",
        """\
import binspark
from binspark.spark.session import local_session

spark = local_session("a day in a shop")""",
    ),
    Step(
        "What is in the logs?",
        "The same day, recorded by MySQL 9.7 and by MariaDB: so many rows of each table were written.",
        """\
for server in ("mysql", "mariadb"):
    summary = binspark.tables(spark, f"{shop}/{server}").summary
    summary.select("table", "insert_rows", "update_rows", "delete_rows", "bytes").show()""",
    ),
    Step(
        "One table, typed",
        "A column of the table is a column here, with its type. Names that begin with _ say where a row comes from.",
        """\
orders = spark.read.format("binlog").option("table", "shop.orders").load(f"{shop}/mysql")
orders.printSchema()""",
    ),
    Step(
        "The life of two orders",
        "The column channel was added after order 60: what was written before has NULL there. And both were deleted.",
        """\
life = orders.where("id IN (60, 61)").orderBy("_file", "_pos", "_row")
life.select("_commit_time", "_op", "id", "status", "channel", "total").show(truncate=False)""",
    ),
    Step(
        "Who deleted what, and when?",
        "One transaction deleted every order there was. Its GTID is its name on every server that has it.",
        """\
orders.createOrReplaceTempView("orders")
deleted = spark.sql(\"\"\"
    SELECT _commit_time, _gtid, count(*) AS orders, sum(total) AS worth
    FROM orders WHERE _op = 'delete' GROUP BY ALL ORDER BY _commit_time\"\"\")
deleted.show(truncate=False)""",
    ),
    Step(
        "By which statement, on which connection?",
        "The events of that transaction tell: somebody wanted to remove one order, and WHERE covers all of them.\n"
        "Who had the connection (thread_id) is known to the server: to its audit log, or to the application's.",
        """\
gtid = deleted.collect()[0]["_gtid"]
events = spark.read.format("binlog").options(view="events", includeGtids=gtid).load(f"{shop}/mysql")
told = events.selectExpr("file", "pos", "type", "body:thread_id::int", "body:query::string")
told.where("query IS NOT NULL").orderBy("pos").show(truncate=False, vertical=True)""",
    ),
    Step(
        "Every table at once: all that ever happened to order 42",
        "Without an option, rows of all tables come as VARIANT: the key, the row before and the row after a change.",
        """\
changes = spark.read.format("binlog").load(f"{shop}/mysql")
order_42 = changes.where("_key:order_id::int = 42 OR (_table = 'orders' AND _key:id::int = 42)")
status = ("_before:status::string AS was", "_after:status::string AS became")
told = order_42.selectExpr("_commit_time", "_table", "_op", "_key", *status)
told.orderBy("_commit_time", "_table").show(truncate=False)""",
    ),
    Step(
        "MariaDB's logs read the same",
        "Another family of servers, with other events and GTIDs of its own.",
        """\
orders = spark.read.format("binlog").option("table", "shop.orders").load(f"{shop}/mariadb")
orders.where("_op = 'delete'").groupBy("_gtid", "_commit_time").count().show(truncate=False)""",
    ),
    Step(
        "Changes as Parquet",
        "A DataFrame of changes is written like any other.",
        """\
orders.write.mode("overwrite").parquet(f"{output}/orders")
spark.read.parquet(f"{output}/orders").groupBy("_op").count().orderBy("_op").show()""",
    ),
)


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
