"""Run the declarative pipeline on logs: `python examples/pipeline/run.py LOGS STORAGE`.

Both have defaults: the logs that ship with binspark, and a new folder. A second run reads only what is new.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

HERE = Path(__file__).parent


def main(logs: str, storage: str) -> int:
    folder = Path(storage)
    folder.mkdir(parents=True, exist_ok=True)
    settings = (HERE / "spark-pipeline.yml").read_text()
    spec = folder / "spark-pipeline.yml"
    found = str(Path(logs).resolve()) if Path(logs).exists() else logs
    spec.write_text(settings.replace("STORAGE", folder.resolve().as_uri()).replace("LOGS", found))
    link = folder / "transformations"
    if not link.exists():
        link.symlink_to((HERE / "transformations").resolve())
    command = [
        str(Path(sys.executable).with_name("spark-pipelines")),
        "--conf",
        "spark.sql.catalogImplementation=hive",
        "--conf",
        f"spark.sql.warehouse.dir={(folder / 'tables').resolve()}",
        "run",
        "--spec",
        str(spec),
    ]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    shipped = str(files("binspark") / "data" / "shop" / "mysql")
    sys.exit(main(*(sys.argv[1:] + [shipped, tempfile.mkdtemp()][len(sys.argv) - 1 :])))
