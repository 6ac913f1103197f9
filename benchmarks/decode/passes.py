"""`python -m benchmarks.decode.passes LOG PASSES [before]`: binspark reads a log several times, in one thread.

Each pass is a call of `binspark.batches`. It prints a line for each: how many rows, how many seconds, after how many
seconds the first batch came, and how many seconds of CPU time. The first pass also imports binspark with the libraries
that it needs, and loads kernels: therefore this module imports nothing else.
"""

from __future__ import annotations

import sys
import time

BEFORE = "before"


def main() -> None:
    path, passes, *words = sys.argv[1:]
    for _ in range(int(passes)):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        import binspark

        batches = (item.batch for item in binspark.batches(path, before=BEFORE in words))
        rows = next(batches).num_rows
        first = time.perf_counter() - begin
        rows += sum(batch.num_rows for batch in batches)
        print(rows, time.perf_counter() - begin, first, time.process_time() - begin_cpu)


if __name__ == "__main__":
    main()
