"""The cases of MySQL."""

from __future__ import annotations

import json

from binspark.testing.servers import MySQL
from binspark.testing.servers.keyring import with_keyring
from tools.record_corpus import workloads
from tools.record_corpus.case import CaseList, scripts
from tools.record_corpus.group_replication import GROUP_OPTIONS, group_of_two
from tools.record_corpus.recorder import Options, Recorder

FOREIGN = "11111111-2222-3333-4444-555555555555"
ANONYMOUS: Options = {"gtid_mode": "OFF", "enforce_gtid_consistency": "OFF"}
LOWEST = "00000000-0000-0000-0000-000000000001"


def gtid_tags(recorder: Recorder) -> None:
    """Commit with tags, then rotate, so that the next PREVIOUS_GTIDS has them."""
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a VARCHAR(20))")
    recorder.sql(
        "SET gtid_next='AUTOMATIC:billing'; INSERT INTO shop.t VALUES (1, 'billing');"
        "SET gtid_next='AUTOMATIC:billing'; INSERT INTO shop.t VALUES (2, 'billing');"
        "SET gtid_next='AUTOMATIC:a_tag_of_thirty_two_characters_'; INSERT INTO shop.t VALUES (3, 'long');"
        "SET gtid_next='AUTOMATIC'; INSERT INTO shop.t VALUES (4, 'untagged');"
        f"SET gtid_next='{FOREIGN}:import:1000000'; INSERT INTO shop.t VALUES (5, 'foreign');"
        "SET gtid_next='AUTOMATIC'; FLUSH BINARY LOGS; INSERT INTO shop.t VALUES (6, 'next file')"
    )
    recorder.keep_logs_after_stop()


def gtid_gaps(recorder: Recorder) -> None:
    """Commit with GTIDs of other servers, out of order and with gaps; some transactions are empty."""
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a VARCHAR(20))")
    numbers = (5, 1, 2, 9, 100, 9223372036854775806)
    for row, number in enumerate(numbers):
        recorder.sql(f"SET gtid_next='{FOREIGN}:{number}'; INSERT INTO shop.t VALUES ({row}, 'x')")
    for number in (3, 7):
        recorder.sql(f"SET gtid_next='{LOWEST}:{number}'; BEGIN; COMMIT")
    recorder.sql("FLUSH BINARY LOGS; INSERT INTO shop.t VALUES (100, 'ours')")
    recorder.sql(f"SET gtid_next='{FOREIGN}:4'; INSERT INTO shop.t VALUES (101, 'closing a gap')")
    recorder.sql("FLUSH BINARY LOGS")
    recorder.keep_logs_after_stop()


def compressed_large(recorder: Recorder) -> None:
    """One payload of 120 KB that is compressed to a few kilobytes."""
    recorder.sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a TEXT)")
    rows = ",".join(f"({number}, REPEAT('{number % 10}', 1000))" for number in range(120))
    recorder.sql(f"INSERT INTO shop.t VALUES {rows}")
    recorder.sql("BEGIN; UPDATE shop.t SET a = 'small' WHERE id < 50; DELETE FROM shop.t WHERE id > 110; COMMIT")
    recorder.keep_logs_after_stop()


def partial_json(recorder: Recorder) -> None:
    """Change parts of documents."""
    document = json.dumps({"a": "x" * 200, "b": [1, 2, 3], "c": {"d": 1, "é": "x" * 100}, "n": 1.5})
    recorder.sql(
        "CREATE DATABASE shop; USE shop;"
        "CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON, a INT);"
        f"INSERT INTO t VALUES (1, '{document}', '{document}', 1), (2, '{document}', NULL, 2), (3, NULL, '[]', 3);"
        "UPDATE t SET j = JSON_SET(j, '$.a', 'short') WHERE id = 1;"
        "UPDATE t SET j = JSON_REPLACE(j, '$.b[1]', 'two', '$.c.d', 2), a = 10 WHERE id < 3;"
        "UPDATE t SET j = JSON_REMOVE(j, '$.c.é'), k = JSON_SET(k, '$.new', CAST(NOW(6) AS JSON)) WHERE id = 1;"
        "UPDATE t SET j = JSON_SET(j, '$.b[9]', NULL) WHERE id = 2;"
        "UPDATE t SET j = '{\"whole\": true}' WHERE id = 2;"
        "UPDATE t SET a = 11; UPDATE t SET k = NULL WHERE id = 1;"
        "UPDATE t SET j = JSON_ARRAY_INSERT(j, '$.b[0]', 0) WHERE id = 1; DELETE FROM t WHERE id = 2"
    )
    recorder.keep_logs_after_stop()


def encrypted(recorder: Recorder) -> None:
    """Encrypt the log with the keyring component; the text is that of the log as the server sends it, decrypted."""
    server = recorder.server
    server.stop()
    recorder.forget_logs()
    keyring = server.datadir / "keyring"
    server.programs = with_keyring(server.programs, server.datadir.with_name("with-keyring"), keyring)
    server.restart({"binlog-encryption": "ON"})
    recorder.script("rotation.sql")
    recorder.keep_what_server_sends("--get-server-public-key", "--print-table-metadata")
    server.stop()
    recorder.keep_without_witness(*server.log_files(), server.datadir / "binlog.index", keyring)


def mysql_cases() -> CaseList:
    """Return the cases; table maps have full metadata unless the case is about that."""
    cases = CaseList(MySQL, {"binlog-row-metadata": "FULL"})
    add = cases.add
    shop = scripts("shop.sql")
    add("format-row", "the everyday log in ROW format, all metadata", shop)
    add("format-statement", "the same in STATEMENT format", shop, binlog_format="STATEMENT")
    add("format-mixed", "the same in MIXED format", shop, binlog_format="MIXED")
    add("metadata-minimal", "table maps with MINIMAL metadata", shop, binlog_row_metadata="MINIMAL")
    add("image-minimal", "row images MINIMAL: keys before, changes after", shop, binlog_row_image="MINIMAL")
    add("image-noblob", "row images without unchanged blobs", shop, binlog_row_image="NOBLOB")
    add("checksum-none", "no checksums", shop, binlog_checksum="NONE")
    add("compressed", "transactions as zstd payloads", shop, binlog_transaction_compression="ON")
    add(
        "compressed-checksum-none",
        "payloads without checksums",
        shop,
        binlog_transaction_compression="ON",
        binlog_checksum="NONE",
    )
    add(
        "compressed-large",
        "a payload of 120 KB",
        compressed_large,
        binlog_transaction_compression="ON",
    )
    add(
        "gtid-off",
        "anonymous transactions",
        shop,
        **ANONYMOUS,
    )
    add("gtid-tagged", "GTIDs with tags, and PREVIOUS_GTIDS with tags", gtid_tags)
    add("gtid-gaps", "GTIDs of other servers, out of order, with gaps; empty transactions", gtid_gaps)
    add("xa", "XA: one phase, two phases, rollback, finished by another session, left prepared", workloads.xa)
    add("savepoints", "savepoints, rolled back and released", scripts("savepoints.sql"), **ANONYMOUS)
    add(
        "savepoints-statement",
        "the same as statements; rollback of what cannot be undone",
        scripts("savepoints.sql"),
        binlog_format="STATEMENT",
        **ANONYMOUS,
    )
    add(
        "load-data",
        "LOAD DATA as statements, in blocks of 2 KiB",
        workloads.load_data,
        binlog_format="STATEMENT",
        max_allowed_packet=2048,
    )
    add("load-data-row", "LOAD DATA as rows", workloads.load_data)
    add(
        "load-data-failed",
        "LOAD DATA that is refused after its blocks were logged",
        workloads.load_data_that_fails,
        binlog_format="STATEMENT",
    )
    add("json-partial", "partial updates of JSON", partial_json, binlog_row_value_options="PARTIAL_JSON")
    add(
        "json-partial-minimal",
        "partial updates of JSON with MINIMAL images",
        partial_json,
        binlog_row_value_options="PARTIAL_JSON",
        binlog_row_image="MINIMAL",
    )
    add("ddl", "DDL of every kind", scripts("ddl.sql"))
    add("multi-table", "updates and deletes of several tables, cascades, triggers", scripts("multi_table.sql"))
    add(
        "temporary-tables",
        "temporary tables as statements",
        workloads.temporary_tables,
        binlog_format="STATEMENT",
    )
    add(
        "user-variables",
        "user variables of every type as statements",
        scripts("user_variables.sql"),
        binlog_format="STATEMENT",
    )
    add(
        "session-context",
        "INTVAR, RAND, and every status variable of a statement that can be set",
        scripts("session_context.sql"),
        binlog_format="STATEMENT",
    )
    add(
        "session-context-mixed",
        "the same, where unsafe statements become rows",
        scripts("session_context.sql"),
        binlog_format="MIXED",
    )
    add("rows-query", "the statement's text before its rows", shop, binlog_rows_query_log_events="ON")
    types = scripts("types_common.sql", "types_mysql.sql")
    add("types", "every column type, all metadata", types)
    add("types-minimal", "every column type, MINIMAL metadata", types, binlog_row_metadata="MINIMAL")
    add(
        "types-image-minimal",
        "every column type, MINIMAL images and metadata",
        types,
        binlog_row_metadata="MINIMAL",
        binlog_row_image="MINIMAL",
    )
    add("types-compressed", "every column type in payloads", types, binlog_transaction_compression="ON")
    add("json-large", "JSON past 64 KiB", scripts("json_large.sql"))
    add("invisible-generated", "invisible and generated columns", scripts("invisible_generated.sql"))
    add("keys", "tables without a key, with a unique, composite or prefix key", scripts("keys.sql"))
    add("big-row", "rows events over the event size", workloads.big_row)
    add("rotation", "a chain of files, one of them empty, and the index", scripts("rotation.sql"))
    add("large-transaction", "one transaction of many events", workloads.large_transaction)
    add(
        "non-transactional",
        "MyISAM and MEMORY, alone and inside transactions",
        scripts("non_transactional.sql"),
        **ANONYMOUS,
    )
    add("incident", "INCIDENT: events were lost", workloads.lost_events)
    add("crash", "a log left by a killed server, marked as in use", workloads.crash)
    add("crash-truncated", "a log cut in the middle of an event by a crash", workloads.crash_in_mid_event)
    add("restart-after-crash", "the log before and after recovery", workloads.restart_after_crash)
    add("still-open", "the log of a running server", workloads.still_open)
    add("replica", "relay logs of a replica, and the replica's own log", workloads.replica_logs)
    add(
        "replica-compressed",
        "the same with payloads",
        workloads.replica_logs,
        binlog_transaction_compression="ON",
    )
    add(
        "parallel",
        "commit groups: last_committed and sequence_number by write set",
        workloads.parallel,
        binlog_group_commit_sync_delay=20000,
    )
    add("encrypted", "an encrypted log (magic fd 62 69 6e) and its keyring", encrypted)
    add(
        "group-replication",
        "a group of two: both logs, and the relay logs of the one that joined",
        group_of_two,
        **GROUP_OPTIONS,
    )
    return cases
