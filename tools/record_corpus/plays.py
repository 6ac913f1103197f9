"""What is played on both families, where a script is not enough."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from binspark.testing.servers import Server, SqlFailed
from tools.record_corpus.stage import Stage, is_mysql

PEOPLE = "".join(f'{number},"Person {number}, née {number * 7}",Città {number % 5}\n' for number in range(1, 151))


def xa(stage: Stage) -> None:
    """Prepare in one session and finish in another; leave one prepared at the end."""
    stage.script("xa.sql")
    stage.sql("XA COMMIT 'handed over'")
    stage.sql("USE shop; XA START 'left'; INSERT INTO t VALUES (6, 'prepared'); XA END 'left'; XA PREPARE 'left'")
    stage.keep_logs_after_stop()


def load_data(stage: Stage) -> None:
    """Load a file in several blocks."""
    _lay_out_people(stage, PEOPLE)
    stage.script("load_data.sql")
    stage.keep_logs_after_stop()


def load_data_that_fails(stage: Stage) -> None:
    """Load a file whose first line is refused: its blocks are in the log, and have to be thrown away."""
    _lay_out_people(stage, PEOPLE)
    stage.sql(
        "USE shop; CREATE TABLE isam (id INT PRIMARY KEY, name VARCHAR(60), city VARCHAR(60)) ENGINE=MyISAM;"
        "CREATE TABLE inno (id INT PRIMARY KEY, name VARCHAR(60), city VARCHAR(60)) ENGINE=InnoDB;"
        "INSERT INTO isam VALUES (1, 'in the way', ''); INSERT INTO inno VALUES (1, 'in the way', '');"
    )
    load = "LOAD DATA INFILE 'people.csv' INTO TABLE {} FIELDS TERMINATED BY ',' ENCLOSED BY '\"'"
    expect_refusal(stage.server, f"USE shop; {load.format('isam')}")
    expect_refusal(stage.server, f"USE shop; {load.format('inno')}")
    stage.keep_logs_after_stop()


def _lay_out_people(stage: Stage, text: str) -> None:
    stage.sql("CREATE DATABASE shop CHARACTER SET utf8mb4")
    (stage.server.datadir / "shop/people.csv").write_text(text)


def expect_refusal(server: Server, script: str) -> None:
    """Run a script that the server has to refuse."""
    try:
        server.run_sql(script)
    except SqlFailed:
        return
    raise AssertionError(f"the server took it: {script}")


def crash(stage: Stage) -> None:
    """Kill the server while clients write; the log stays marked as in use."""
    stage.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(200))")
    connections = [stage.server.connect() for _ in range(3)]
    writers = [threading.Thread(target=_write_until_lost, args=(connection,)) for connection in connections]
    for writer in writers:
        writer.start()
    while stage.server.log_files()[0].stat().st_size < 8_000:
        time.sleep(0.005)
    stage.server.kill()
    for writer in writers:
        writer.join()
    stage.keep_logs()


def _write_until_lost(connection: Any) -> None:
    with contextlib.suppress(Exception):  # whatever losing a server raises
        while True:
            connection.cursor().execute("INSERT INTO shop.t (a) VALUES (REPEAT('a', 100)), ('b')")


def crash_in_mid_event(stage: Stage) -> None:
    """Kill the server while it copies a large transaction into the log: the last event is cut."""
    server = stage.server
    stage.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a TEXT)")
    (log,) = server.log_files()
    connection = server.connect(autocommit=False)
    for number in range(130):
        connection.cursor().execute("INSERT INTO shop.t VALUES (%s, REPEAT('x', 6000))", (number,))
    committer = threading.Thread(target=_commit_until_lost, args=(connection,))
    size_before = log.stat().st_size
    committer.start()
    while log.stat().st_size == size_before:
        pass
    server.kill()
    committer.join()
    stage.keep_damaged(log)


def _commit_until_lost(connection: Any) -> None:
    with contextlib.suppress(Exception):  # whatever losing a server raises
        connection.commit()


def restart_after_crash(stage: Stage) -> None:
    """Kill the server and start it again: recovery closes the first log, a second one follows."""
    stage.script("replication.sql")
    stage.server.kill()
    stage.server.restart()
    stage.sql("INSERT INTO shop.t VALUES (100, 'after the crash')")
    stage.keep_logs_after_stop()


def still_open(stage: Stage) -> None:
    """Copy the log of a running server: marked as in use, no STOP."""
    stage.script("replication.sql")
    stage.keep_logs()


def parallel(stage: Stage) -> None:
    """Let several sessions commit at once, some on the same rows, so that commits form groups."""
    stage.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB")
    stage.sql("INSERT INTO shop.t VALUES " + ",".join(f"({number}, 0)" for number in range(8)))
    together = threading.Barrier(6)
    sessions = [threading.Thread(target=_commit_often, args=(stage.server, n, together)) for n in range(6)]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()
    stage.keep_logs_after_stop()


def _commit_often(server: Server, session: int, together: threading.Barrier) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        for round_number in range(4):
            together.wait()
            cursor.execute("UPDATE shop.t SET n = n + 1 WHERE id = %s", (session if round_number % 2 else 7,))
            cursor.execute("INSERT INTO shop.t VALUES (%s, 0)", (100 + session * 10 + round_number,))


def big_row(stage: Stage) -> None:
    """Write rows events near and over the server's event size, and one row larger than that."""
    stage.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a LONGTEXT) CHARACTER SET latin1")
    stage.sql("INSERT INTO shop.t VALUES (1, REPEAT('0123456789', 4000))")
    rows = ",".join(f"({number}, REPEAT('x', 900))" for number in range(2, 22))
    stage.sql(f"INSERT INTO shop.t VALUES {rows}")
    stage.sql("UPDATE shop.t SET a = CONCAT(LEFT(a, 300), 'y') WHERE id BETWEEN 2 AND 12")
    stage.keep_logs_after_stop()


def large_transaction(stage: Stage) -> None:
    """One transaction of many statements and several tables, whose rows fill many events."""
    stage.sql("CREATE DATABASE shop")
    for table in "abc":
        stage.sql(f"CREATE TABLE shop.{table} (id INT PRIMARY KEY, n BIGINT, v VARCHAR(30)) ENGINE=InnoDB")
    script = ["BEGIN"]
    for number in range(30):
        table = "abc"[number % 3]
        values = ",".join(f"({number * 10 + i}, {number * i}, 'row {i}')" for i in range(8))
        script.append(f"INSERT INTO shop.{table} VALUES {values}")
    script += ["UPDATE shop.a SET n = n + 1", "DELETE FROM shop.b WHERE n > 50", "COMMIT"]
    stage.sql(";\n".join(script))
    stage.keep_logs_after_stop()


def lost_events(stage: Stage) -> None:
    """Overflow the statement cache with a table that cannot be rolled back: the server logs an INCIDENT."""
    stage.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a TEXT) ENGINE=MyISAM")
    stage.sql("SET GLOBAL max_binlog_stmt_cache_size = 4096, GLOBAL binlog_stmt_cache_size = 4096")
    rows = ",".join(f"({number}, REPEAT('x', 900))" for number in range(2000))
    expect_refusal(stage.server, f"INSERT INTO shop.t VALUES {rows}")
    stage.keep_logs_after_stop()


def temporary_tables(stage: Stage) -> None:
    """End a session that still has a temporary table: the server drops it in the log."""
    stage.script("temporary_tables.sql")
    time.sleep(0.5)  # the session ends after its client did
    stage.keep_logs_after_stop()


def replica_logs(stage: Stage) -> None:
    """Keep a replica's relay logs, and its own logs of what it applied."""
    source = stage.server
    replica = stage.start_another({"server-id": 2, "relay-log": "relay", "log-bin": "replica", "relay-log-purge": 0})
    replica.run_sql(_follow(stage, source))
    stage.script("replication.sql")
    _wait_for_row(replica, "SELECT id FROM shop.t WHERE id = 4")
    replica.run_sql("STOP REPLICA")
    stage.keep(*sorted(path for path in replica.datadir.glob("relay.0*") if path.stat().st_size))
    stage.server = replica
    stage.keep_logs_after_stop()


def _follow(stage: Stage, source: Server) -> str:
    if is_mysql(stage):
        return (
            f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='root',"
            " SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1; START REPLICA"
        )
    return (
        f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source.port}, MASTER_USER='root',"
        " MASTER_USE_GTID=slave_pos; START REPLICA"
    )


def _wait_for_row(server: Server, query: str) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if server.query(query):
                return
        except Exception:  # the table is not there yet
            time.sleep(0.05)
        time.sleep(0.05)
    raise AssertionError(f"never true: {query}: {server.run_sql('SHOW REPLICA STATUS')}")
