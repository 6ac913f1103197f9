"""Programs keep compiled kernels: each way to begin turns the cache on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import binspark

LOG = Path(binspark.__file__).parent / "data" / "shop" / "mysql" / "binlog.000003"
DOORS = {
    "command line": """
        import sys
        from binspark.cli import main
        sys.argv = ["binspark", "--version"]
        main.leave = print
        main.run()
    """,
    "batches": "import binspark; binspark.batches(LOG)",
    "follow": "import binspark; binspark.follow(host='localhost', user='repl')",
    "archive": "import binspark; binspark.open_archiver(FOLDER, host='localhost', user='repl')",
    "serve": "import os, binspark; binspark.open_server(os.path.dirname(LOG), port=0)",
    "Spark, schema": """
        from binspark.spark.source import BinlogDataSource
        BinlogDataSource({"path": LOG, "view": "events"}).schema()
    """,
    "Spark, batch": """
        from binspark.spark.source import BinlogDataSource
        from binspark.spark.schemas import events_schema
        BinlogDataSource({"path": LOG, "view": "events"}).reader(events_schema())
    """,
    "Spark, stream": """
        from binspark.spark.source import BinlogDataSource
        from binspark.spark.schemas import events_schema
        BinlogDataSource({"path": LOG, "view": "events"}).streamReader(events_schema())
    """,
    "Spark, executor": """
        from binspark.spark.source import BinlogDataSource
        from binspark.spark.schemas import events_schema
        source = BinlogDataSource({"path": LOG, "view": "events"})
        reader = source.reader(events_schema())
        cache.disable()
        reader.read(reader.partitions()[0])
    """,
}


@pytest.mark.parametrize("door", DOORS)
def test_kernels_are_kept_by_programs(door: str, tmp_path: Path) -> None:
    lines = DOORS[door].strip().splitlines()
    code = "\n".join(
        [
            f"LOG, FOLDER = {str(LOG)!r}, {str(tmp_path)!r}",
            "from binspark.kernels import cache",
            "assert not cache.is_enabled()",
            *(line.strip() for line in lines),
            "print(cache.is_enabled())",
        ]
    )
    ended = subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "True"
