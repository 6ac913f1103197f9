"""Where the password of a server must not appear: plans, pages, the event log, checkpoints, processes, errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from binspark.testing.servers import Server
from tests.support.servers import each_family

PASSWORD = "Xylophone4711Quartz"

_DRIVER = """
import sys
import urllib.request
from pathlib import Path

from binspark.spark.session import local_session

folder, port, user, table = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
password = sys.stdin.readline().strip()
options = {"host": f"127.0.0.1:{port}", "user": user, "password": password, "table": table}
(folder / "events").mkdir()
spark = local_session("secrets", {
    "spark.master": "local[2]", "spark.local.dir": str(folder / "local"),
    "spark.ui.enabled": "true", "spark.ui.port": "0", "spark.eventLog.compress": "false",
    "spark.eventLog.enabled": "true", "spark.eventLog.dir": str(folder / "events"),
})
texts = {}
batch = spark.read.format("binlog").options(**options).load()
texts["rows"] = str(batch.collect())
texts["plan of a batch"] = batch._jdf.queryExecution().toString()
stream = spark.readStream.format("binlog").options(**options, startingOffsets="earliest").load()
texts["plan of a stream"] = stream._jdf.queryExecution().toString()
query = (
    stream.writeStream.format("parquet").option("path", str(folder / "out"))
    .option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
)
query.awaitTermination()
texts["progress"] = str(query.recentProgress)
application = f"/api/v1/applications/{spark.sparkContext.applicationId}"
pages = ["/environment/", "/StreamingQuery/", "/SQL/execution/?id=0", "/SQL/execution/?id=1"]
pages += [f"{application}/environment", f"{application}/sql?details=true&planDescription=true", f"{application}/jobs"]
for page in pages:
    with urllib.request.urlopen(spark.sparkContext.uiWebUrl + page) as answer:
        texts[page] = answer.read().decode()
processes = [path / name for path in Path("/proc").glob("[0-9]*") for name in ("cmdline", "environ")]
for path in processes:
    try:
        texts[f"process {path.name}"] = texts.get(f"process {path.name}", "") + path.read_text(errors="replace")
    except OSError:
        continue
try:
    spark.read.format("binlog").options(**{**options, "user": user + "_unknown"}).load().collect()
except Exception as error:
    texts["error"] = str(error)
spark.stop()
for path in folder.rglob("*"):
    if path.is_file():
        texts[str(path.relative_to(folder))] = path.read_bytes().decode("latin-1")
assert {"error", "progress"} <= texts.keys() and any(name.startswith("events") for name in texts), texts.keys()
assert any(name.startswith("checkpoint") for name in texts), texts.keys()
assert "42" in texts["rows"], texts["rows"]
print([name for name, text in texts.items() if password in text])
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@each_family
def test_spark_shows_and_stores_no_password(shared: Server, database: str, tmp_path: Path) -> None:
    shared.query("FLUSH BINARY LOGS")
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.stock (id INT PRIMARY KEY)")
    shared.run_sql(f"CREATE USER {database} IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON *.* TO {database}")
    shared.run_sql(f"INSERT INTO {database}.stock VALUES (42)")
    words = [sys.executable, "-c", _DRIVER, str(tmp_path), str(shared.port), database, f"{database}.stock"]
    ended = subprocess.run(words, input=PASSWORD, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "[]\n"), ended.stderr
    assert PASSWORD not in ended.stderr
