"""Workloads for both families that are more than a script."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from binspark.testing.servers import Server, SqlFailed
from tools.record_corpus.recorder import Recorder, is_mysql

PEOPLE = "".join(f'{number},"Person {number}, née {number * 7}",Città {number % 5}\n' for number in range(1, 151))


def xa(recorder: Recorder) -> None:
    """Prepare in one session and finish in another; leave one prepared at the end."""
    recorder.script("xa.sql")
    recorder.sql("XA COMMIT 'handed over'")
    recorder.sql("USE shop; XA START 'left'; INSERT INTO t VALUES (6, 'prepared'); XA END 'left'; XA PREPARE 'left'")
    recorder.keep_logs_after_stop()


def load_data(recorder: Recorder) -> None:
    """Load a file in several blocks."""
    _lay_out_people(recorder, PEOPLE)
    recorder.script("load_data.sql")
    recorder.keep_logs_after_stop()


def load_data_that_fails(recorder: Recorder) -> None:
    """Load a file whose first line is refused: its blocks are in the log, and DELETE_FILE follows."""
    _lay_out_people(recorder, PEOPLE)
    recorder.sql(
        "USE shop; CREATE TABLE isam (id INT PRIMARY KEY, name VARCHAR(60), city VARCHAR(60)) ENGINE=MyISAM;"
        "CREATE TABLE inno (id INT PRIMARY KEY, name VARCHAR(60), city VARCHAR(60)) ENGINE=InnoDB;"
        "INSERT INTO isam VALUES (1, 'in the way', ''); INSERT INTO inno VALUES (1, 'in the way', '');"
    )
    load = "LOAD DATA INFILE 'people.csv' INTO TABLE {} FIELDS TERMINATED BY ',' ENCLOSED BY '\"'"
    expect_refusal(recorder.server, f"USE shop; {load.format('isam')}")
    expect_refusal(recorder.server, f"USE shop; {load.format('inno')}")
    recorder.keep_logs_after_stop()


def _lay_out_people(recorder: Recorder, text: str) -> None:
    recorder.sql("CREATE DATABASE shop CHARACTER SET utf8mb4")
    (recorder.server.datadir / "shop/people.csv").write_text(text)


def expect_refusal(server: Server, script: str) -> None:
    """Run a script that the server must refuse."""
    try:
        server.run_sql(script)
    except SqlFailed:
        return
    raise AssertionError(f"expected an error, but the server accepted: {script}")


def crash(recorder: Recorder) -> None:
    """Kill the server while clients write; the log stays marked as in use."""
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(200))")
    connections = [recorder.server.connect() for _ in range(3)]
    writers = [threading.Thread(target=_write_until_lost, args=(connection,)) for connection in connections]
    for writer in writers:
        writer.start()
    while recorder.server.log_files()[0].stat().st_size < 8_000:
        time.sleep(0.005)
    recorder.server.kill()
    for writer in writers:
        writer.join()
    recorder.keep_logs()


def _write_until_lost(connection: Any) -> None:
    with contextlib.suppress(Exception):  # losing the server raises different errors
        while True:
            connection.cursor().execute("INSERT INTO shop.t (a) VALUES (REPEAT('a', 100)), ('b')")


def crash_in_mid_event(recorder: Recorder) -> None:
    """Kill the server while it copies a large transaction into the log: the last event is cut."""
    server = recorder.server
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a TEXT)")
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
    recorder.keep_damaged(log)


def _commit_until_lost(connection: Any) -> None:
    with contextlib.suppress(Exception):  # losing the server raises different errors
        connection.commit()


def restart_after_crash(recorder: Recorder) -> None:
    """Kill the server and start it again: recovery closes the first log, a second one follows."""
    recorder.script("replication.sql")
    recorder.server.kill()
    recorder.server.restart()
    recorder.sql("INSERT INTO shop.t VALUES (100, 'after the crash')")
    recorder.keep_logs_after_stop()


def still_open(recorder: Recorder) -> None:
    """Copy the log of a running server: marked as in use, no STOP."""
    recorder.script("replication.sql")
    recorder.keep_logs()


def parallel(recorder: Recorder) -> None:
    """Commit in several sessions at once, some on the same rows, so that commits form groups."""
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB")
    recorder.sql("INSERT INTO shop.t VALUES " + ",".join(f"({number}, 0)" for number in range(8)))
    together = threading.Barrier(6)
    sessions = [threading.Thread(target=_commit_often, args=(recorder.server, n, together)) for n in range(6)]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()
    recorder.keep_logs_after_stop()


def _commit_often(server: Server, session: int, together: threading.Barrier) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        for round_number in range(4):
            together.wait()
            cursor.execute("UPDATE shop.t SET n = n + 1 WHERE id = %s", (session if round_number % 2 else 7,))
            cursor.execute("INSERT INTO shop.t VALUES (%s, 0)", (100 + session * 10 + round_number,))


def big_row(recorder: Recorder) -> None:
    """Write rows events near and over the server's event size, and one row larger than that."""
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a LONGTEXT) CHARACTER SET latin1")
    recorder.sql("INSERT INTO shop.t VALUES (1, REPEAT('0123456789', 4000))")
    rows = ",".join(f"({number}, REPEAT('x', 900))" for number in range(2, 22))
    recorder.sql(f"INSERT INTO shop.t VALUES {rows}")
    recorder.sql("UPDATE shop.t SET a = CONCAT(LEFT(a, 300), 'y') WHERE id BETWEEN 2 AND 12")
    recorder.keep_logs_after_stop()


def large_transaction(recorder: Recorder) -> None:
    """One transaction of many statements and several tables, whose rows fill many events."""
    recorder.sql("CREATE DATABASE shop")
    for table in "abc":
        recorder.sql(f"CREATE TABLE shop.{table} (id INT PRIMARY KEY, n BIGINT, v VARCHAR(30)) ENGINE=InnoDB")
    script = ["BEGIN"]
    for number in range(30):
        table = "abc"[number % 3]
        values = ",".join(f"({number * 10 + i}, {number * i}, 'row {i}')" for i in range(8))
        script.append(f"INSERT INTO shop.{table} VALUES {values}")
    script += ["UPDATE shop.a SET n = n + 1", "DELETE FROM shop.b WHERE n > 50", "COMMIT"]
    recorder.sql(";\n".join(script))
    recorder.keep_logs_after_stop()


def lost_events(recorder: Recorder) -> None:
    """Overflow the statement cache with a table that cannot be rolled back: the server logs an INCIDENT."""
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a TEXT) ENGINE=MyISAM")
    recorder.sql("SET GLOBAL max_binlog_stmt_cache_size = 4096, GLOBAL binlog_stmt_cache_size = 4096")
    rows = ",".join(f"({number}, REPEAT('x', 900))" for number in range(2000))
    expect_refusal(recorder.server, f"INSERT INTO shop.t VALUES {rows}")
    recorder.keep_logs_after_stop()


def temporary_tables(recorder: Recorder) -> None:
    """End a session that still has a temporary table: the server drops it in the log."""
    recorder.script("temporary_tables.sql")
    time.sleep(0.5)  # the session ends after its client has
    recorder.keep_logs_after_stop()


def replica_logs(recorder: Recorder) -> None:
    """Keep a replica's relay logs, and its own logs of what it applied."""
    source = recorder.server
    replica = recorder.start_another({"server-id": 2, "relay-log": "relay", "log-bin": "replica", "relay-log-purge": 0})
    replica.run_sql(_follow(recorder, source))
    recorder.script("replication.sql")
    _wait_for_row(replica, "SELECT id FROM shop.t WHERE id = 4")
    replica.run_sql("STOP REPLICA")
    recorder.keep(*sorted(path for path in replica.datadir.glob("relay.0*") if path.stat().st_size))
    recorder.server = replica
    recorder.keep_logs_after_stop()


def _follow(recorder: Recorder, source: Server) -> str:
    if is_mysql(recorder):
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
        except Exception:  # the table does not exist yet
            time.sleep(0.05)
        time.sleep(0.05)
    raise AssertionError(f"still no rows after 30 s: {query}: {server.run_sql('SHOW REPLICA STATUS')}")
