"""The tables in a server's logs, the changes of one table, who deleted from it, and the changes as Parquet.

    python examples/tour.py [LOGS [TABLE]]

LOGS is a log, a folder or a glob; by default, the logs of a small shop that ship with binspark.
"""

from __future__ import annotations

import argparse
from importlib.resources import files
from tempfile import TemporaryDirectory

import binspark
from binspark.spark.session import local_session

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("logs", nargs="?", default=str(files("binspark") / "data" / "shop" / "mysql"))
parser.add_argument("table", nargs="?", default="shop.orders")
arguments = parser.parse_args()

spark = local_session("tour")

# The tables in the logs, one row each.
tables = binspark.tables(spark, arguments.logs)
tables.summary.select("schema", "table", "insert_rows", "update_rows", "delete_rows", "bytes").show()

# One table with typed columns, in the order of the log.
changes = tables[arguments.table]
changes.printSchema()
changes.orderBy("_seq").drop("_seq", "_gtid", "_log_file", "_tx_row", "_server_id").show(5)

# The transactions that deleted rows of it.
deletes = changes.where("_op = 'delete'").groupBy("_commit_time", "_gtid").count()
deletes.orderBy("_commit_time").show(truncate=False)

# Every table: rows as VARIANT. This is the last transaction in the logs.
every = spark.read.format("binlog").load(arguments.logs)
every.createOrReplaceTempView("changes")
last = spark.sql("SELECT * FROM changes WHERE _commit_time = (SELECT max(_commit_time) FROM changes)")
last.select("_table", "_op", "_key", "_after").orderBy("_seq").show(truncate=60)

# Write the changes as Parquet, like any other DataFrame.
with TemporaryDirectory() as folder:
    changes.write.parquet(f"{folder}/changes")
    spark.read.parquet(f"{folder}/changes").groupBy("_op").count().orderBy("_op").show()

spark.stop()
