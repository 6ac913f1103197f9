"""`python -m benchmarks.encryption`: CPU time of reading encrypted logs, and the same logs in clear, in turn.

The logs are those of `benchmarks.decode`, of bulk inserts and of small transactions, encrypted in each way that servers
have. `read` only reads the bytes; `batches` decodes the rows into columns. The least CPU time of several runs counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import binspark
from benchmarks.decode.logs import get_log
from benchmarks.workloads import BULK, OLTP, Workload
from binspark.encryption.keyring import Keyring
from binspark.files import LogSource, find_logs
from binspark.files.storage import Storage
from tests.support.encryption.encrypting import KEY, KEY_ID, encrypt_mariadb, encrypt_mysql, with_start_encryption

MEGABYTES = 100
REPEATS = 5
STORAGE = Storage(keyring=Keyring("keys", ((KEY_ID, KEY),), ((1, KEY),)))


def main() -> None:
    for workload in (BULK, OLTP):
        with tempfile.TemporaryDirectory() as folder:
            logs = _logs(workload, Path(folder))
            for name, work in (("read", _read), ("batches", _decode)):
                for kind, seconds in _measure(logs, work).items():
                    size = Path(logs[kind].name).stat().st_size / 1e6
                    rate = f"{size / seconds / 1000:6.2f} GB/s"
                    print(f"{workload.name:<6} {size:6.1f} MB  {name:<8} {kind:<12} {seconds:6.3f} CPU s  {rate}")


def _logs(workload: Workload, folder: Path) -> dict[str, LogSource]:
    plain = get_log(workload, MEGABYTES).path.read_bytes()
    marked = with_start_encryption(plain)
    contents = {
        "plain": plain,
        "MySQL": encrypt_mysql(plain),
        "MariaDB CBC": encrypt_mariadb(marked),
        "MariaDB CTR": encrypt_mariadb(marked, counter_mode=True),
    }
    for number, content in enumerate(contents.values(), 1):
        (folder / f"binlog.{number:06}").write_bytes(content)
    # Only encrypted logs have the keyring: nobody gives one for others.
    paths = [str(folder / f"binlog.{number:06}") for number in range(1, len(contents) + 1)]
    found = [
        find_logs(path, None if kind == "plain" else STORAGE)[0] for kind, path in zip(contents, paths, strict=True)
    ]
    return dict(zip(contents, found, strict=True))


def _measure(logs: dict[str, LogSource], work: Callable[[LogSource], None]) -> dict[str, float]:
    best = dict.fromkeys(logs, float("inf"))
    for _ in range(REPEATS):
        for kind, log in logs.items():
            before = process_time()
            work(log)
            best[kind] = min(best[kind], process_time() - before)
    return best


def _read(log: LogSource) -> None:
    buffer = memoryview(bytearray(1 << 20))
    with log.open() as file:
        while file.readinto(buffer):
            pass


def _decode(log: LogSource) -> None:
    for _ in binspark.batches(log):
        pass


if __name__ == "__main__":
    main()
