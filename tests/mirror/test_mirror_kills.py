"""Random changes and statements, and a mirror whose process is killed at random moments: the tables are equal."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from binspark.mirror.targets.parse import Format
from binspark.testing.servers import Family, Server
from tests.support.mirror.live_mirrors import assert_equal, run_mirror
from tests.support.servers import StartServer, every_family

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

KILLS = int(os.environ.get("BINSPARK_MIRROR_KILLS", "6"))
"""How many kills a run of the test has."""


class Writer:
    """Changes rows and tables at random, until it is stopped, and waits after each change."""

    def __init__(self, server: Server, seed: int, seconds: float = 0.01) -> None:
        self._server = server
        self._seconds = seconds
        self._random = random.Random(seed)
        self._stopped = threading.Event()
        self._columns = 0
        self.failures: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopped.set()
        self._thread.join(60)

    def _run(self) -> None:
        try:
            with self._server.connect() as connection, connection.cursor() as cursor:
                while not self._stopped.is_set():
                    for statement in self._statements():
                        cursor.execute(statement)
                    time.sleep(self._seconds)
        except BaseException as error:
            self.failures.append(error)

    def _statements(self) -> list[str]:
        number, kind = self._random.randrange(3000), self._random.random()
        if kind < 0.4:
            return [f"REPLACE INTO shop.orders (id, name, amount) VALUES ({number}, 'r{number}', {number % 97})"]
        if kind < 0.6:
            return [f"UPDATE shop.orders SET amount = amount + 1 WHERE id BETWEEN {number} AND {number + 200}"]
        if kind < 0.7:
            return [f"DELETE FROM shop.orders WHERE id BETWEEN {number} AND {number + 20}"]
        if kind < 0.8:
            return [f"UPDATE IGNORE shop.orders SET id = id + {self._random.randrange(1, 500)} WHERE id = {number}"]
        if kind < 0.9:
            return [f"INSERT INTO shop.log VALUES ({number % 9}, 'x')", "DELETE FROM shop.log WHERE a = 3 LIMIT 2"]
        return self._definition() if kind > 0.985 else ["INSERT INTO shop.log VALUES (3, NULL)"]

    def _definition(self) -> list[str]:
        self._columns += 1
        name = f"c{self._columns}"
        return self._random.choice(
            [
                [f"ALTER TABLE shop.orders ADD {name} INT DEFAULT {self._columns}"],
                [f"ALTER TABLE shop.orders ADD {name} VARCHAR(9)", f"ALTER TABLE shop.orders DROP {name}"],
                ["TRUNCATE TABLE shop.log"],
                ["RENAME TABLE shop.log TO shop.old", "RENAME TABLE shop.old TO shop.log"],
                [f"CREATE TABLE shop.{name} AS SELECT id, amount FROM shop.orders", f"DROP TABLE shop.{name}"],
            ]
        )


def start_mirror(server: Server, lake: Path, kind: Format) -> subprocess.Popen[bytes]:
    """Start a mirror in a process of its own, which commits as often as it can."""
    words = [sys.executable, "-m", "binspark", "mirror", "--no-defaults", "--host", f"127.0.0.1:{server.port}"]
    words += ["--user", "root", "--tables", "shop.*", "--target", str(lake), "--format", kind, "--apply-every", "0"]
    return subprocess.Popen([*words, "--progress", "none"], stderr=subprocess.PIPE)


@every_family
def test_a_mirror_that_is_killed_again_and_again_equals_its_source(
    family: Family, start_server: StartServer, lake: Path, kind: Format
) -> None:
    server = start_server(family)
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.orders (id INT PRIMARY KEY, name VARCHAR(20), amount INT)")
    server.query("CREATE TABLE shop.log (a INT, b VARCHAR(5))")
    chance = random.Random(7)
    with Writer(server, 11) as writer:
        for _ in range(KILLS):
            process = start_mirror(server, lake, kind)
            time.sleep(chance.uniform(1.5, 6))
            assert process.poll() is None, process.communicate()[1].decode()
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()
    assert not writer.failures
    run_mirror(server, lake, "shop.*", kind)
    assert_equal(server, lake, "shop.orders", "shop.log", kind=kind)
