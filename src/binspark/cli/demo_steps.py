"""The tour with Spark: what is said, and the lines of Python that are shown and run.

Steps share their names, as the cells of a notebook do. `shop` is the folder of the logs, `output` one to write to.
"""

from __future__ import annotations

from dataclasses import dataclass


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
