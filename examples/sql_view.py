"""Logs in SQL only: a view of a table's changes, a view of all changes, and queries on both.

    python examples/sql_view.py [LOGS [TABLE]]

LOGS is a log, a folder or a glob; by default, the logs of a small shop that ship with binspark. The statements
also run in `spark-sql`.
"""

from __future__ import annotations

import argparse
from importlib.resources import files

from binspark.spark.session import local_session

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("logs", nargs="?", default=str(files("binspark") / "data" / "shop" / "mysql"))
parser.add_argument("table", nargs="?", default="shop.orders")
arguments = parser.parse_args()

VIEWS = f"""
CREATE TEMPORARY VIEW one_table USING binlog OPTIONS (path '{arguments.logs}', table '{arguments.table}');
CREATE TEMPORARY VIEW all_tables USING binlog OPTIONS (path '{arguments.logs}')
"""
QUERIES = """
DESCRIBE one_table;

SELECT _op, count(*) AS rows, min(_commit_time) AS first, max(_commit_time) AS last
FROM one_table GROUP BY _op ORDER BY _op;

SELECT _schema, _table, _op, count(*) AS rows, count(DISTINCT _gtid) AS transactions
FROM all_tables GROUP BY ALL ORDER BY rows DESC, _table;

SELECT _commit_time, _table, _key, _before FROM all_tables
WHERE _op = 'delete' ORDER BY _seq LIMIT 3
"""

spark = local_session("SQL")
for statement in VIEWS.split(";"):
    spark.sql(statement)
for query in QUERIES.split(";"):
    spark.sql(query).show(100, truncate=60)
spark.stop()
