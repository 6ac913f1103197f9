"""Driver, workers, archiver and server killed at random moments under a steady workload: every row arrives once."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from binspark.testing.servers import MySQL, Server
from tests.support.servers import StartServer
from tests.support.stream.stream_world import (
    TABLE,
    Follower,
    Workload,
    arrived,
    kill_server,
    logged,
    make_table,
    spark_driver,
)

KILLS = int(os.environ.get("BINSPARK_KILLS", "16"))
"""More of them for a longer run by hand: BINSPARK_KILLS=400."""

pytestmark = [
    pytest.mark.mysql,
    pytest.mark.slow,
    pytest.mark.timeout(max(1200, 30 * KILLS)),
]
SAFE = {
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "binlog-row-metadata": "FULL",
    "sync-binlog": "1",
    "innodb-flush-log-at-trx-commit": "1",
}


def archiver(server: Server, folder: Path) -> Follower:
    address = f"127.0.0.1:{server.port}"
    command = [
        sys.executable,
        "-m",
        "binspark",
        "archive",
        "--host",
        address,
        "--user",
        "root",
        "-o",
        str(folder / "logs"),
    ]
    return Follower(lambda: [*command, "--sync-seconds", "0.2"], folder / "archiver.log")


def torment(victims: dict[str, Callable[[], object]], alive: Callable[[], None], kills: int) -> None:
    """Kill one victim after the other, at random moments."""
    chance = random.Random(11)
    names = list(victims)
    for number in range(kills):
        time.sleep(chance.uniform(0.3, 2.5))
        victims[names[number % len(names)]]()
        alive()


@pytest.fixture
def server(start_server: StartServer) -> Server:
    made = start_server(MySQL, SAFE)
    make_table(made)
    return made


def restart(follower: Follower) -> None:
    follower.kill()
    follower.start()


def read_the_rest(folder: Path, options: Callable[[], dict[str, str]]) -> None:
    """Read what is left with a driver that ends by itself."""
    last = spark_driver(folder, lambda: {**options(), "availableNow": "true"})
    last.start()
    assert last.wait(300) == 0, last.text()[-3000:]


def test_an_archive_that_is_killed_at_every_end(server: Server, tmp_path: Path) -> None:
    copier = archiver(server, tmp_path)
    (tmp_path / "logs").mkdir()

    def options() -> dict[str, str]:
        return {"path": str(tmp_path / "logs"), "table": TABLE, "startingOffsets": "earliest"}

    workload = Workload(server)
    workload.start()
    copier.start()
    while not list((tmp_path / "logs").glob("*.0*")):
        time.sleep(0.2)
    driver = spark_driver(tmp_path, options)
    driver.start()
    time.sleep(15)

    def alive() -> None:
        for follower in (copier, driver):
            if not follower.alive:
                follower.start()

    victims: dict[str, Callable[[], object]] = {
        "worker": driver.kill_worker,
        "archiver": lambda: restart(copier),
        "worker again": driver.kill_worker,
        "server": lambda: kill_server(server),
        "archiver again": lambda: restart(copier),
        "driver": lambda: restart(driver),
    }
    try:
        torment(victims, alive, KILLS)
        workload.stop()
        time.sleep(3)
        alive()
        wait_until_copied(server, tmp_path / "logs")
    finally:
        workload.stop()
        driver.kill()
        copier.kill()
    read_the_rest(tmp_path, options)
    assert workload.transactions > 100
    assert arrived(tmp_path) == logged(server)


def wait_until_copied(server: Server, archive: Path) -> None:
    """Wait until the logs in the archive are identical to those of the server."""
    for _ in range(300):
        logs = server.log_files()
        copies = [archive / log.name for log in logs]
        if all(
            copy.exists() and copy.stat().st_size == log.stat().st_size for copy, log in zip(copies, logs, strict=True)
        ):
            return
        time.sleep(0.2)
    pytest.fail("the archiver does not catch up")


def test_a_live_server_that_is_killed_at_every_end(server: Server, tmp_path: Path) -> None:
    def options() -> dict[str, str]:
        address = {"host": "127.0.0.1", "port": str(server.port), "user": "root"}
        return {**address, "table": TABLE, "startingOffsets": "earliest"}

    workload = Workload(server)
    workload.start()
    driver = spark_driver(tmp_path, options)
    driver.start()
    time.sleep(15)

    def alive() -> None:
        if not driver.alive:
            driver.start()

    victims: dict[str, Callable[[], object]] = {
        "worker": driver.kill_worker,
        "server": lambda: kill_server(server),
        "worker again": driver.kill_worker,
        "driver": lambda: restart(driver),
    }
    try:
        torment(victims, alive, KILLS // 2)
    finally:
        workload.stop()
        driver.kill()
    read_the_rest(tmp_path, options)
    assert workload.transactions > 100
    assert arrived(tmp_path) == logged(server)
