"""The cases of MariaDB."""

from __future__ import annotations

from binspark.testing.servers import MariaDB
from tools.record_corpus import workloads
from tools.record_corpus.case import CaseList, scripts
from tools.record_corpus.recorder import Recorder

ENCRYPTION_KEY = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
"""The corpus's own key, kept in it so that the log can be read."""


def gtid_domains(recorder: Recorder) -> None:
    """Commit in several domains and for several servers, then rotate, so that the GTID list shows them."""
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a VARCHAR(20))")
    for row, (domain, server_id) in enumerate(((0, 1), (1, 1), (1, 5), (4294967295, 7), (0, 1), (1, 1))):
        recorder.sql(f"SET gtid_domain_id={domain}, server_id={server_id}; INSERT INTO shop.t VALUES ({row}, 'x')")
    recorder.sql("SET gtid_domain_id=2, gtid_seq_no=1000000000000; INSERT INTO shop.t VALUES (50, 'far')")
    recorder.sql("FLUSH BINARY LOGS; INSERT INTO shop.t VALUES (100, 'next file')")
    recorder.sql("FLUSH BINARY LOGS")
    recorder.keep_logs_after_stop()


def compressed(recorder: Recorder) -> None:
    """Long statements and rows that the server compresses, and short ones that it does not."""
    recorder.sql(
        "CREATE DATABASE shop; USE shop; CREATE TABLE t (id INT PRIMARY KEY, a TEXT, n INT);"
        f"CREATE TABLE long_ddl (id INT COMMENT '{'long comment ' * 60}');"
        "INSERT INTO t VALUES (1, REPEAT('a', 2000), 1), (2, REPEAT('b', 2000), 2);"
        "INSERT INTO t VALUES (3, 'short', 3);"
        "UPDATE t SET n = n + 1; UPDATE t SET n = 0 WHERE id = 3; DELETE FROM t WHERE id < 3;"
        f"INSERT INTO t VALUES (4, '{'long text ' * 100}', 4); DELETE FROM t WHERE a = '{'long text ' * 100}'"
    )
    recorder.keep_logs_after_stop()


def sequences(recorder: Recorder) -> None:
    """Sequences are tables whose next value is logged."""
    recorder.sql(
        "CREATE DATABASE shop; USE shop; CREATE SEQUENCE s START WITH 100 INCREMENT BY 10 CACHE 2;"
        "CREATE TABLE t (id BIGINT DEFAULT NEXT VALUE FOR s PRIMARY KEY, a INT);"
        "INSERT INTO t (a) VALUES (1), (2), (3); SELECT NEXT VALUE FOR s; SELECT SETVAL(s, 1000);"
        "ALTER SEQUENCE s MAXVALUE 5000; DROP TABLE t; DROP SEQUENCE s"
    )
    recorder.keep_logs_after_stop()


def system_versioning(recorder: Recorder) -> None:
    """Tables that keep their history, with hidden and with named period columns."""
    recorder.sql(
        "CREATE DATABASE shop; USE shop; CREATE TABLE t (id INT PRIMARY KEY, a INT) WITH SYSTEM VERSIONING;"
        "INSERT INTO t VALUES (1, 1), (2, 2); UPDATE t SET a = 10 WHERE id = 1; DELETE FROM t WHERE id = 2;"
        "CREATE TABLE u (id INT PRIMARY KEY, a INT, b TIMESTAMP(6) GENERATED ALWAYS AS ROW START,"
        " e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (b, e)) WITH SYSTEM VERSIONING;"
        "INSERT INTO u (id, a) VALUES (1, 1); UPDATE u SET a = 2; DELETE HISTORY FROM t;"
        "CREATE TABLE p (id INT, a DATE, e DATE, PERIOD FOR valid (a, e)); "
        "INSERT INTO p VALUES (1, '2026-01-01', '2026-12-31');"
        "UPDATE p FOR PORTION OF valid FROM '2026-03-01' TO '2026-04-01' SET id = 2"
    )
    recorder.keep_logs_after_stop()


def old_temporal_types(recorder: Recorder) -> None:
    """TIME, DATETIME and TIMESTAMP as they were before MySQL 5.6.4, in seconds."""
    _play_moments(recorder, digits=(0,))
    recorder.keep_logs_after_stop()


def old_temporal_fractions(recorder: Recorder) -> None:
    """The same at every precision, which is not in the log, so that mariadb-binlog gives up."""
    _play_moments(recorder, digits=(0, 1, 2, 3, 4, 5, 6))
    recorder.server.stop()
    (log,) = recorder.server.log_files()
    recorder.keep_without_witness(log)
    text = recorder.server.mysqlbinlog(log, "--print-table-metadata")
    (recorder.folder / f"{log.name}.txt").write_bytes(text)


def _play_moments(recorder: Recorder, digits: tuple[int, ...]) -> None:
    columns = ", ".join(f"t{n} TIME({n}), dt{n} DATETIME({n}), ts{n} TIMESTAMP({n}) NULL" for n in digits)
    moment = "'-12:34:56.987654', '2026-02-28 23:59:58.987654', '2026-02-28 23:59:58.987654'"
    least = "'-838:59:59.999999', '2026-00-00', '1970-01-01 00:00:01.000001'"
    most = "'838:59:59.999999', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07.999999'"
    triples = (moment, least, most, "NULL, NULL, NULL", "0, 0, 0")
    rows = ", ".join(f"({row}, {', '.join([triple] * len(digits))})" for row, triple in enumerate(triples))
    recorder.sql(
        "SET sql_mode='', time_zone='+00:00'; CREATE DATABASE shop; USE shop;"
        f"CREATE TABLE moments (id INT PRIMARY KEY, {columns}); INSERT INTO moments VALUES {rows};"
        "UPDATE moments SET t0 = '00:00:01', dt0 = '2001-01-01 00:00:00' WHERE id = 3;"
        "DELETE FROM moments WHERE id = 4"
    )


def two_phase_alter(recorder: Recorder) -> None:
    """ALTER TABLE logged when it starts and when it ends, and once when it fails."""
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a INT)")
    recorder.sql("INSERT INTO shop.t VALUES (1, 1), (2, 1)")
    alter = "SET binlog_alter_two_phase=ON; ALTER TABLE shop.t "
    recorder.sql(alter + "ADD COLUMN b INT, ALGORITHM=COPY")
    workloads.expect_refusal(recorder.server, alter + "ADD UNIQUE KEY (a), ALGORITHM=COPY")
    recorder.sql(alter + "ADD COLUMN c INT, ALGORITHM=INPLACE")
    recorder.sql("INSERT INTO shop.t VALUES (3, 3, 3, 3)")
    recorder.keep_logs_after_stop()


def encrypted(recorder: Recorder) -> None:
    """Encrypt the log with a key file; the text is that of the log as the server sends it, decrypted."""
    server = recorder.server
    server.stop()
    recorder.forget_logs()
    keys = recorder.folder / "keys.txt"
    keys.write_text(f"1;{ENCRYPTION_KEY}\n")
    server.restart(
        {
            "plugin-load-add": "file_key_management.so",
            "file-key-management-filename": str(keys),
            "encrypt-binlog": "ON",
        }
    )
    recorder.script("rotation.sql")
    recorder.keep_what_server_sends()
    server.stop()
    recorder.keep_without_witness(*server.log_files(), server.datadir / "binlog.index")


def mariadb_cases() -> CaseList:
    """Return the cases; table maps have full metadata unless the case is about that."""
    cases = CaseList(MariaDB, {"binlog-row-metadata": "FULL"})
    add = cases.add
    shop = scripts("shop.sql")
    add("format-row", "the everyday log in ROW format, all metadata, CRC32, with ANNOTATE_ROWS", shop)
    add("format-statement", "the same in STATEMENT format", shop, binlog_format="STATEMENT")
    add("format-mixed", "the same in MIXED format", shop, binlog_format="MIXED")
    add("metadata-none", "table maps without metadata", shop, binlog_row_metadata="NO_LOG")
    add("metadata-minimal", "table maps with MINIMAL metadata", shop, binlog_row_metadata="MINIMAL")
    add("image-minimal", "row images MINIMAL: keys before, changes after", shop, binlog_row_image="MINIMAL")
    add("image-noblob", "row images without unchanged blobs", shop, binlog_row_image="NOBLOB")
    add("checksum-none", "no checksums", shop, binlog_checksum="NONE")
    add("annotate-off", "rows without ANNOTATE_ROWS", shop, binlog_annotate_row_events="OFF")
    compress: dict[str, str | int | None] = {"log_bin_compress": "ON", "log_bin_compress_min_len": 100}
    add("compressed", "compressed rows and statements, and short ones that are not", compressed, **compress)
    add("compressed-statement", "compressed statements", compressed, binlog_format="STATEMENT", **compress)
    add("compressed-shop", "the everyday log, compressed", shop, log_bin_compress="ON", log_bin_compress_min_len=10)
    add("gtid-domains", "GTIDs of several domains and servers, and their GTID list", gtid_domains)
    add("xa", "XA: one phase, two phases, rollback, finished by another session, left prepared", workloads.xa)
    add("savepoints", "savepoints, rolled back and released", scripts("savepoints.sql"))
    add("savepoints-statement", "the same as statements", scripts("savepoints.sql"), binlog_format="STATEMENT")
    add("load-data", "LOAD DATA as statements", workloads.load_data, binlog_format="STATEMENT", max_allowed_packet=2048)
    add("load-data-row", "LOAD DATA as rows", workloads.load_data)
    add(
        "load-data-failed",
        "LOAD DATA that is refused after its blocks were logged",
        workloads.load_data_that_fails,
        binlog_format="STATEMENT",
    )
    add("ddl", "DDL of every kind", scripts("ddl.sql"))
    add("multi-table", "updates and deletes of several tables, cascades, triggers", scripts("multi_table.sql"))
    add("temporary-tables", "temporary tables as statements", workloads.temporary_tables, binlog_format="STATEMENT")
    add("user-variables", "user variables of every type", scripts("user_variables.sql"), binlog_format="STATEMENT")
    add(
        "session-context",
        "INTVAR, RAND, and every status variable of a statement that can be set",
        scripts("session_context.sql"),
        binlog_format="STATEMENT",
    )
    types = scripts("types_common.sql", "types_mariadb.sql")
    add("types", "every column type, all metadata, compressed columns", types)
    add("types-minimal", "every column type, MINIMAL metadata", types, binlog_row_metadata="MINIMAL")
    add("types-compressed", "every column type in compressed rows", types, **compress)
    add(
        "types-old-temporal",
        "TIME, DATETIME and TIMESTAMP in the format before MySQL 5.6.4",
        old_temporal_types,
        mysql56_temporal_format="OFF",
    )
    add(
        "types-old-temporal-fractions",
        "the same with fractions, whose number of digits is not in the log; the text has no row values",
        old_temporal_fractions,
        mysql56_temporal_format="OFF",
    )
    add("invisible-generated", "invisible and generated columns", scripts("invisible_generated.sql"))
    add("keys", "tables without a key, with a unique, composite or prefix key", scripts("keys.sql"))
    add("sequences", "sequences", sequences)
    add("system-versioning", "tables that keep their history, application periods", system_versioning)
    add("big-row", "rows events over the event size", workloads.big_row)
    add("rotation", "a chain of files, one of them empty, and the index", scripts("rotation.sql"))
    add("large-transaction", "one transaction of many events", workloads.large_transaction)
    add("non-transactional", "MyISAM and MEMORY, alone and inside transactions", scripts("non_transactional.sql"))
    add("incident", "INCIDENT: events were lost", workloads.lost_events)
    add("crash", "a log left by a killed server, marked as in use", workloads.crash)
    add("crash-truncated", "a log cut in the middle of an event by a crash", workloads.crash_in_mid_event)
    add("restart-after-crash", "the log before and after recovery", workloads.restart_after_crash)
    add("still-open", "the log of a running server", workloads.still_open)
    add("alter-two-phase", "ALTER TABLE as START, COMMIT and ROLLBACK ALTER", two_phase_alter)
    add(
        "parallel",
        "group commit: commit ids in the GTID events",
        workloads.parallel,
        binlog_commit_wait_count=4,
        binlog_commit_wait_usec=20000,
    )
    add("replica", "relay logs of a replica, and the replica's own log", workloads.replica_logs, log_slave_updates="ON")
    add("encrypted", "an encrypted log (START_ENCRYPTION) and its key", encrypted)
    return cases
