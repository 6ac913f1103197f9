"""The changes of every table as Parquet, one directory per table.

    python examples/to_parquet.py [LOGS [FOLDER]]

LOGS is a log, a folder or a glob; by default, the logs of a small shop that ship with binspark. FOLDER must
not contain these tables yet; by default, it is a temporary directory.
"""

from __future__ import annotations

import argparse
import tempfile
from importlib.resources import files

import binspark
from binspark.spark.session import local_session

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("logs", nargs="?", default=str(files("binspark") / "data" / "shop" / "mysql"))
parser.add_argument("folder", nargs="?")
arguments = parser.parse_args()

spark = local_session("to Parquet")
with tempfile.TemporaryDirectory() as temporary:
    folder = arguments.folder or temporary
    for name, changes in binspark.tables(spark, arguments.logs).items():
        changes.write.parquet(f"{folder}/{name}")
        written = spark.read.parquet(f"{folder}/{name}").groupBy("_op").count().orderBy("_op")
        written.selectExpr(f"'{name}' AS table", "*").show(truncate=False)
spark.stop()
