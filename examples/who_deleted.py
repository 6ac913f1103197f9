"""Who deleted rows of a table: when, in which transaction, on which connection, and by which statement.

    python examples/who_deleted.py [LOGS [TABLE]]

LOGS is a log, a folder or a glob; by default, the logs of a small shop that ship with binspark. Statements are
in the log where the server writes them: MySQL with `binlog_rows_query_log_events`, MariaDB by default.
"""

from __future__ import annotations

import argparse
from importlib.resources import files

from binspark.spark.session import local_session

WHO_DELETED = """
WITH deletes AS (
    SELECT _log_file AS file, _log_pos AS pos, _commit_time AS committed, count(*) AS rows
    FROM changes WHERE _op = 'delete' GROUP BY ALL
), statements AS (
    SELECT file, pos, body:query::string AS statement
    FROM events WHERE type IN ('ROWS_QUERY', 'ANNOTATE_ROWS')
)
SELECT deletes.committed, transactions.gtid, transactions.server_id, transactions.thread_id, deletes.file, deletes.pos,
       deletes.rows, max_by(statement, statements.pos) AS statement
FROM deletes
JOIN transactions ON deletes.file = transactions.file AND deletes.pos BETWEEN transactions.pos AND transactions.end_pos
LEFT JOIN statements ON deletes.file = statements.file AND statements.pos BETWEEN transactions.pos AND deletes.pos
GROUP BY ALL
ORDER BY deletes.committed, deletes.file, deletes.pos
"""

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("logs", nargs="?", default=str(files("binspark") / "data" / "shop" / "mysql"))
parser.add_argument("table", nargs="?", default="shop.orders")
arguments = parser.parse_args()

spark = local_session("who deleted")
binlog = {
    "changes": {"table": arguments.table, "operations": "delete"},
    "transactions": {"view": "transactions"},
    "events": {"view": "events", "body": "true"},
}
for name, options in binlog.items():
    spark.read.format("binlog").options(**options).load(arguments.logs).createOrReplaceTempView(name)
spark.sql(WHO_DELETED).show(100, truncate=False, vertical=True)
spark.stop()
