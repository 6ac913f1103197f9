"""`binspark demo`: a short tour of binspark, with the logs that ship with the package."""

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

from binspark.cli.command import Command
from binspark.cli.main import exit_code
from binspark.errors import OptionError


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the tour: its title, an explanation, its code, and a package that it needs and may not be there."""

    title: str
    text: str
    code: str
    needs: str = ""


STEPS = (
    Step(
        "Start Spark",
        "On this machine, listening on loopback only. Spark discovers the data source `binlog` by itself.",
        """\
import binspark
from binspark.spark.session import local_session

spark = local_session("a day in a shop")""",
    ),
    Step(
        "What is in the logs?",
        "The same day, recorded by MySQL 9.7 and by MariaDB: the number of changed rows of each table.",
        """\
for server in ("mysql", "mariadb"):
    summary = binspark.tables(spark, f"{shop}/{server}").summary
    summary.select("table", "insert_rows", "update_rows", "delete_rows", "bytes").show()""",
    ),
    Step(
        "One table, typed",
        "Each column of the table is a column of the DataFrame, with its type. Metadata columns begin with _.",
        """\
orders = spark.read.format("binlog").option("table", "shop.orders").load(f"{shop}/mysql")
orders.printSchema()""",
    ),
    Step(
        "The life of two orders",
        "The column channel was added after order 60: earlier rows have NULL there. Both orders were deleted.",
        """\
life = orders.where("id IN (60, 61)").orderBy("_seq")
life.select("_commit_time", "_op", "id", "status", "channel", "total").show(truncate=False)""",
    ),
    Step(
        "Who deleted what, and when?",
        "One transaction deleted all orders. Its GTID identifies it on every server that has it.",
        """\
orders.createOrReplaceTempView("orders")
deleted = spark.sql(\"\"\"
    SELECT _commit_time, _gtid, count(*) AS orders, sum(total) AS worth
    FROM orders WHERE _op = 'delete' GROUP BY ALL ORDER BY _commit_time\"\"\")
deleted.show(truncate=False)""",
    ),
    Step(
        "By which statement, on which connection?",
        "The events of that transaction show it: somebody wanted to remove one order, but WHERE matched all of them.\n"
        "Who used the connection (thread_id) is in the server's audit log, or in that of the application.",
        """\
gtid = deleted.collect()[0]["_gtid"]
options = {"view": "events", "body": True, "includeGtids": gtid}
events = spark.read.format("binlog").options(**options).load(f"{shop}/mysql")
statements = events.selectExpr("file", "pos", "type", "body:thread_id::int", "body:query::string")
statements.where("query IS NOT NULL").orderBy("pos").show(truncate=False, vertical=True)""",
    ),
    Step(
        "Every table at once: all that ever happened to order 42",
        "Without the option `table`, rows of all tables are VARIANT: the key, and the row before and after the change.",
        """\
changes = spark.read.format("binlog").load(f"{shop}/mysql")
order_42 = changes.where("_key:order_id::int = 42 OR (_table = 'orders' AND _key:id::int = 42)")
status = ("_before:status::string AS was", "_after:status::string AS became")
history = order_42.selectExpr("_commit_time", "_table", "_op", "_key", *status)
history.orderBy("_commit_time", "_table").show(truncate=False)""",
    ),
    Step(
        "MariaDB's logs are read the same way",
        "MariaDB has its own events and GTIDs; options and columns are the same.",
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
    Step(
        "A mirror of the shop in Delta",
        "Delta tables that equal those of the server, schema changes included. Here they are made of the logs alone;\n"
        "`binspark mirror --host …` copies the tables of a live server first, and then follows its log.",
        """\
from deltalake import DeltaTable

report = binspark.mirror(None, f"{shop}/mysql", f"{output}/lake", "shop.*")
names = [table.name for table in report.tables]
tables = {str(name): DeltaTable(f"{output}/lake/{name.schema}/{name.table}") for name in names}""",
        needs="deltalake",
    ),
    Step(
        "The proof",
        "The last change of each row gives the same. `binspark mirror --check` compares a mirror with its live server.",
        """\
for name, table in tables.items():
    changes = spark.read.format("binlog").option("table", name).load(f"{shop}/mysql")
    expected = binspark.latest(changes).toArrow().to_pylist()
    mirrored = table.to_pyarrow_table().to_pylist()
    print(name, len(mirrored), sorted(map(str, mirrored)) == sorted(map(str, expected)))""",
        needs="deltalake",
    ),
)


QUICK_START = "-XX:TieredStopAtLevel=1"
"""For Java: compile fast. The queries of the tour are too short to gain from better code."""


def missing_for_spark() -> str | None:
    """Return what must be installed before Spark runs; None if nothing is missing."""
    if find_spec("pyspark") is None:
        return "pip install 'binspark[spark]'"
    from binspark.spark.session import has_java

    return None if has_java() else "Java 17 or later, on the PATH or in JAVA_HOME"


def spark_tour(console: Console, shop: str, output: str) -> None:
    """Run all steps in one session, and stop it."""
    console.print(f'shop = "{shop}"\noutput = "{output}"\n', style="dim", soft_wrap=True)
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK_START)
    names: dict[str, Any] = {"shop": shop, "output": output}
    try:
        for step in STEPS:
            if step.needs and find_spec(step.needs) is None:
                console.print(f"{step.title}: skipped. To run it: pip install 'binspark[delta]'\n", soft_wrap=True)
            else:
                run_step(console, step, names)
    finally:
        if "spark" in names:
            names["spark"].stop()


def run_step(console: Console, step: Step, names: dict[str, Any]) -> None:
    """Show a step and run its code, exactly as shown."""
    console.print(Rule(step.title, align="left"))
    console.print(f"{step.text}\n", style="italic", soft_wrap=True)
    console.print(Syntax(step.code, "python", theme="ansi_dark", background_color="default"), soft_wrap=True)
    console.print()
    exec(compile(step.code, f"<{step.title}>", "exec"), names)  # noqa: S102 (the code is a constant of this module)
    console.print()


SHOP = Path(__file__).parents[1] / "data" / "shop"

TOUR = (
    ("What is in these logs?", ("stat", "{shop}/mysql/binlog.index")),
    ("Is anything missing or damaged?", ("verify", "{shop}/mysql/binlog.index")),
    ("What are the last transactions?", ("transactions", "{shop}/mysql/binlog.000003")),
    ("Every event of the transaction that deleted all orders", ("events", "--stop-position", "6383", "{last}")),
    ("The rows of the next order", ("rows", "--start-position", "6383", "{last}")),
    (
        "All changes as Parquet, one directory per table",
        ("export", "{shop}/mysql/binlog.index", "-o", "{folder}/parquet"),
    ),
    ("One event, byte by byte: its global transaction identifier", ("explain", "--at", "198", "{last}")),
    ("The same shop on MariaDB, with the same commands", ("transactions", "{shop}/mariadb/binlog.000003")),
    (
        "Which transactions does a replica lack? GTID sets can be subtracted",
        ("gtid", "subtract", "{uuid}:1-159", "{uuid}:1-157"),
    ),
)
UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


@click.command("demo", cls=Command)
@click.option("--no-spark", is_flag=True, help="Show the commands instead, which do not need Spark.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Write the Parquet files to this directory, and keep them.",
)
def demo_command(no_spark: bool, output: str | None) -> int:
    """Take a tour of binspark.

    It reads the logs of one day of a small shop, written by MySQL and by MariaDB.
    """
    if output is not None and os.path.isdir(output) and os.listdir(output):
        raise OptionError(f"must be an empty or new directory, got {output}", option="--output")
    console = Console(highlight=False, markup=False)
    missing = None if no_spark else missing_for_spark()
    with TemporaryDirectory(prefix="binspark-demo-") as folder:
        if no_spark or missing:
            worst = command_tour(console, output or folder)
        else:
            worst = 0
            spark_tour(console, str(SHOP), output or folder)
    console.print(f"The logs are in {SHOP}.", soft_wrap=True)
    if missing:
        console.print(f"The Spark part was skipped. To run it, install: {missing}", soft_wrap=True)
    elif not no_spark:
        console.print("For the commands, which do not need Spark: binspark demo --no-spark", soft_wrap=True)
    return worst


def command_tour(console: Console, output: str) -> int:
    """Run the commands; return the highest of their exit codes."""
    worst = 0
    paths = {"shop": str(SHOP), "last": f"{SHOP}/mysql/binlog.000003", "uuid": UUID, "folder": output}
    for title, command in TOUR:
        arguments = [word.format(**paths) for word in command]
        shown = " ".join(arguments).replace(str(SHOP), "shop").replace(f"{output}/", "")
        console.print(Rule(title, align="left"))
        console.print(f"$ binspark {shown}\n", style="bold")
        worst = max(worst, exit_code(arguments))
        console.print()
    return worst
