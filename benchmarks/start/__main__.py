"""`python -m benchmarks.start`: seconds from a new interpreter to all batches, without and with compiled kernels.

Each figure is measured in its own process. The first finds an empty cache and compiles; later ones load from it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import binspark

LOG = Path(binspark.__file__).parent / "data" / "shop" / "mysql" / "binlog.000003"
BATCHES = f"""
import time; begin = time.perf_counter()
import binspark
rows = sum(batch.num_rows for batch in binspark.batches({str(LOG)!r}, table="shop.orders"))
print(time.perf_counter() - begin)
"""
JSON_KERNEL = """
import time
from binspark.kernels import cache
from binspark.kernels.compiler import callback_address
from binspark.kernels.json.document import write_json
cache.enable()
begin = time.perf_counter()
callback_address(write_json)
print(time.perf_counter() - begin)
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        print(f"first use, compiles kernels     {seconds(BATCHES, cache):6.2f} s")
        print(f"JSON kernel, compiled           {seconds(JSON_KERNEL, cache):6.2f} s")
        print(f"later use, kernels from cache   {min(seconds(BATCHES, cache) for _ in range(3)):6.2f} s")
        print(f"JSON kernel, from cache         {min(seconds(JSON_KERNEL, cache) for _ in range(3)):6.2f} s")


def seconds(code: str, cache: str) -> float:
    """Run code in a process with its own cache and return the seconds that it prints."""
    environment = {**os.environ, "BINSPARK_CACHE": cache}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(result.stdout)


if __name__ == "__main__":
    main()
