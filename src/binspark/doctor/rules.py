"""What hurts on a server: one table, a rule a row. `docs/doctor.md` is made of it."""

from __future__ import annotations

from binspark.doctor.rule import (
    Mend,
    Rule,
    Severity,
    assign,
    assign_and_restart,
    assign_in_mysql,
    configure,
    is_missing,
    mariadb_only,
    missing_privilege,
    mysql_only,
    run,
    said,
    tables_with,
    unless,
    value_between,
    value_is,
    value_is_not,
    value_where,
)

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

_DAY = 86400
_SMALL_LOG = 16 << 20
_LATER_SESSIONS = "-- it holds for sessions that begin afterwards"
_TOO_SHORT = "Logs go before a reader that stops on a Friday is started again on Monday: it misses what was in them."
_DUMP = "mysqldump --no-data --all-databases > schema.sql, and --schema schema.sql"

RULES = (
    # What is in the logs.
    Rule(
        "log-bin", _ERROR, ("log_bin",), "OFF", value_is("OFF"),
        "The server writes no binary log: there is nothing to read.",
        configure("in my.cnf, below [mysqld]: log_bin = binlog; and take out skip_log_bin and disable_log_bin"),
    ),
    Rule(
        "binlog-format", _ERROR, ("binlog_format",), "not ROW", value_is_not("ROW"),
        "Changes are logged as statements, and no rows can be read from those.",
        assign("ROW", _LATER_SESSIONS),
    ),
    Rule(
        "row-image", _ERROR, ("binlog_row_image",), "not FULL", value_is_not("FULL"),
        "Rows are not whole: columns that did not change are left out. JSON lines do not have them, Arrow and Spark "
        "show NULL, where a NULL of the table looks the same.",
        assign("FULL", _LATER_SESSIONS),
    ),
    Rule(
        "replica-updates", _ERROR, ("log_replica_updates", "log_slave_updates"), "OFF on a replica",
        value_where(lambda value, facts: value == "OFF" and facts.is_replica),
        "The server does not log what it takes from its source: those changes are missing.",
        assign_and_restart("ON"),
    ),
    Rule(
        "do-db", _WARNING, ("binlog_do_db",), "not empty", said(lambda facts: facts.do_db),
        "Only these databases are logged: changes of all others are missing.",
        configure("take {setting} out of my.cnf"),
    ),
    Rule(
        "ignore-db", _WARNING, ("binlog_ignore_db",), "not empty", said(lambda facts: facts.ignore_db),
        "These databases are not logged: their changes are missing.",
        configure("take {setting} out of my.cnf"),
    ),
    Rule(
        "error-action", _WARNING, ("binlog_error_action",), "IGNORE_ERROR", value_is("IGNORE_ERROR"),
        "If a log cannot be written, the server goes on without: changes are missing from then on.",
        assign("ABORT_SERVER"),
    ),
    Rule(
        "cascades", _WARNING, ("foreign keys",), "ON … CASCADE or SET NULL; MySQL before 9.6, and MariaDB",
        unless(
            lambda facts: "innodb_native_foreign_keys" in facts.variables,
            tables_with("cascading", lambda tables: tables.cascading),
        ),
        "When a row that they refer to changes, InnoDB changes rows of these tables by itself and logs nothing: those "
        "changes are missing.",
        run("-- no setting logs them: change these rows by statements, without CASCADE and SET NULL, or use MySQL 9.6"),
    ),
    Rule(
        "native-foreign-keys", _WARNING, ("innodb_native_foreign_keys",), "ON, and a foreign key cascades",
        value_where(lambda value, facts: value == "ON" and (facts.tables is None or bool(facts.tables.cascading))),
        "When a row that a foreign key refers to changes, InnoDB changes the other table by itself and logs nothing: "
        "those changes are missing.",
        mysql_only(assign_and_restart("OFF")),
    ),
    # What the logs tell of rows.
    Rule(
        "row-metadata", _WARNING, ("binlog_row_metadata",), "not FULL", value_is_not("FULL"),
        "The log names no columns, keys and strings of ENUM and SET; MariaDB's NO_LOG leaves out signs and character "
        "sets too. Columns are @1, @2… unless statements in the log or a dump of the tables tell.",
        assign("FULL"),
    ),
    Rule(
        "no-row-metadata", _WARNING, ("binlog_row_metadata",), "missing: MySQL before 8.0, MariaDB before 10.5",
        is_missing,
        "The log names no columns and keys, and does not tell signs and character sets. Columns are @1, @2… unless "
        "statements in the log or a dump of the tables tell.",
        run(f"-- give binspark the tables: {_DUMP}"),
    ),
    Rule(
        "no-key", _WARNING, ("primary keys",), "missing", tables_with("missing", lambda tables: tables.keyless),
        "Nothing names their rows: `key` is null, and a copy of the table cannot tell which of two equal rows changed.",
        run(
            "ALTER TABLE {table} ADD COLUMN row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY;",
            "-- or better: ADD PRIMARY KEY, with the columns that name a row; and so for each table",
        ),
    ),
    Rule(
        "partial-json", _WARNING, ("binlog_row_value_options",), "PARTIAL_JSON", value_is_not(""),
        "Of a JSON document only the changes are logged. binspark applies them to the old one; if binlog_row_image "
        "leaves that out, JSON lines show the changes, and Arrow and Spark refuse the row.",
        mysql_only(assign("''", _LATER_SESSIONS)),
    ),
    Rule(
        "old-times", _WARNING, ("times with fractions",), "MariaDB: in the format from before MySQL 5.6",
        tables_with("old format", lambda tables: tables.old_times),
        "The log does not tell how long these values are: unless statements in it or a dump of the tables do, their "
        "rows usually cannot be read.",
        mariadb_only(run("ALTER TABLE {table} FORCE;", "-- with mysql56_temporal_format = ON; and so for each table")),
    ),
    Rule(
        "temporal-format", _WARNING, ("mysql56_temporal_format",), "OFF", value_is("OFF"),
        "New tables get times in the format from before MySQL 5.6. Of those with fractions the log does not tell how "
        "long they are: unless statements in it or a dump of the tables do, their rows usually cannot be read.",
        mariadb_only(assign("ON")),
    ),
    Rule(
        "hidden-types", _NOTE, ("types",), "MariaDB: INET4, INET6, UUID",
        tables_with("INET4, INET6 or UUID", lambda tables: tables.hidden_types),
        "The log takes these types for BINARY: unless statements in it or a dump of the tables tell, values are bytes.",
        mariadb_only(run(f"-- give binspark the tables: {_DUMP}")),
    ),
    Rule(
        "rows-query", _NOTE, ("binlog_rows_query_log_events", "binlog_annotate_row_events"), "OFF", value_is("OFF"),
        "The log does not say which statement changed the rows.",
        assign("ON", _LATER_SESSIONS),
    ),
    Rule(
        "lower-case", _NOTE, ("lower_case_table_names",), "not 0", value_is_not("0"),
        "The server takes names of tables in any case; binspark takes them as the log writes them, so write --table as "
        "`binspark stat` shows it. Statements in the log that write a name otherwise are taken to be about the table "
        "whose name differs in case only, unless the log shows that case matters.",
        run("-- it is chosen once, when the data directory is made; binlog_row_metadata = FULL makes it matter less"),
    ),
    # Whether readers find their way.
    Rule(
        "server-id", _ERROR, ("server_id",), "0", value_is("0"),
        "A server without an id sends its logs to nobody.",
        assign("1", "-- or another number: no two servers and readers of a group may have the same"),
    ),
    Rule(
        "gtid-mode", _WARNING, ("gtid_mode",), "OFF, OFF_PERMISSIVE", value_is("OFF", "OFF_PERMISSIVE"),
        "A place in the log is a file and an offset, which mean nothing on another server: after a failover binspark "
        "cannot go on where it was.",
        Mend(
            "SET PERSIST enforce_gtid_consistency = ON;\nSET PERSIST gtid_mode = OFF_PERMISSIVE;\n"
            "SET PERSIST gtid_mode = ON_PERMISSIVE;\n"
            "-- with replicas: first all of them, and each step when they have applied what was there before it\n"
            "SET PERSIST gtid_mode = ON;",
            "SET GLOBAL enforce_gtid_consistency = ON;\nSET GLOBAL gtid_mode = OFF_PERMISSIVE;\n"
            "SET GLOBAL gtid_mode = ON_PERMISSIVE;\n"
            "-- with replicas: first all of them, and each step when they have applied what was there before it\n"
            "SET GLOBAL gtid_mode = ON;\n"
            "-- and in my.cnf, below [mysqld]: enforce_gtid_consistency = ON, and gtid_mode = ON",
        ),
    ),
    Rule(
        "gtid-permissive", _WARNING, ("gtid_mode",), "ON_PERMISSIVE", value_is("ON_PERMISSIVE"),
        "Transactions without a GTID are still let in, and a server that lets them in is not read by GTID.",
        assign("ON"),
    ),
    Rule(
        "gtid-strict", _NOTE, ("gtid_strict_mode",), "OFF", value_is("OFF"),
        "Numbers of GTIDs may go backwards when two servers write the same domain, and whoever goes on from a GTID may "
        "then miss transactions.",
        mariadb_only(assign("ON")),
    ),
    # Whether logs are there, and true.
    Rule(
        "retention-seconds", _WARNING, ("binlog_expire_logs_seconds",), "less than 3 days",
        unless(lambda facts: not facts.retention_seconds, value_between(0, 3 * _DAY)),
        _TOO_SHORT,
        assign(str(7 * _DAY)),
    ),
    Rule(
        "retention-days", _WARNING, ("expire_logs_days",), "less than 3, without binlog_expire_logs_seconds",
        unless(lambda facts: facts.variables.get("binlog_expire_logs_seconds", "0") != "0", value_between(0, 3)),
        _TOO_SHORT,
        assign("7"),
    ),
    Rule(
        "retention-size", _NOTE, ("binlog_space_limit", "max_binlog_total_size"), "not 0", value_is_not("0"),
        "Logs go when there are that many bytes of them, however young they are: a burst of changes shortens the time "
        "in which a reader has to come back.",
        assign("0"),
    ),
    Rule(
        "retention-unlimited", _NOTE, ("binlog_expire_logs_seconds", "expire_logs_days"), "0",
        unless(
            lambda facts: facts.variables.get("binlog_expire_logs_auto_purge") == "OFF",
            value_where(lambda _, facts: not facts.retention_seconds),
        ),
        "Logs are kept for ever: a disk that is full stops the server, and its readers with it.",
        Mend(
            f"SET PERSIST binlog_expire_logs_seconds = {30 * _DAY};",
            "SET GLOBAL expire_logs_days = 30;\n-- and in my.cnf, below [mysqld]: expire_logs_days = 30",
        ),
    ),
    Rule(
        "auto-purge", _NOTE, ("binlog_expire_logs_auto_purge",), "OFF", value_is("OFF"),
        "Logs are kept until somebody purges them: a disk that is full stops the server, and its readers with it.",
        mysql_only(assign("ON")),
    ),
    Rule(
        "checksum", _WARNING, ("binlog_checksum",), "NONE", value_is("NONE"),
        "Damage on a disk or on the way is not noticed: a wrong value looks like any other.",
        assign("CRC32"),
    ),
    Rule(
        "sync-binlog", _WARNING, ("sync_binlog",), "not 1", value_is_not("1"),
        "If the machine fails, the log may lose transactions that binspark has read: a copy then has changes that the "
        "server does not have, and the place to go on from is gone.",
        assign("1"),
    ),
    Rule(
        "flush-log", _WARNING, ("innodb_flush_log_at_trx_commit",), "not 1", value_is_not("1"),
        "If the machine fails, tables may lose transactions that are in the log, and a copy that was made of the log "
        "differs from them.",
        assign("1"),
    ),
    # What reading them costs.
    Rule(
        "storage-engine", _WARNING, ("binlog_storage_engine",), "not empty", value_is_not(""),
        "Such logs are pages of InnoDB (.ibb). binspark does not read them as files, and their positions are none in "
        "the binary log's format.",
        mariadb_only(configure("take {setting} out of my.cnf")),
    ),
    Rule(
        "encryption", _NOTE, ("binlog_encryption", "encrypt_binlog"), "ON", value_is("ON"),
        "The server sends its logs in clear, so that following it works; as files they cannot be read.",
        assign_in_mysql("OFF"),
    ),
    Rule(
        "compression", _NOTE, ("binlog_transaction_compression",), "ON", value_is("ON"),
        "A transaction is one event, however large: it is expanded before it is read, by one reader, and its rows have "
        "no positions of their own.",
        mysql_only(assign("OFF", _LATER_SESSIONS)),
    ),
    Rule(
        "event-compression", _NOTE, ("log_bin_compress",), "ON", value_is("ON"),
        "Events are expanded one by one before they are read, which takes longer.",
        mariadb_only(assign("OFF")),
    ),
    Rule(
        "small-logs", _NOTE, ("max_binlog_size",), "less than 16 MiB", value_between(0, _SMALL_LOG),
        "There will be very many logs, each of which is listed, opened and planned for.",
        assign(str(1 << 30)),
    ),
    # What the user may do.
    Rule(
        "replication-slave", _ERROR, ("privileges",), "REPLICATION SLAVE is missing",
        missing_privilege("REPLICATION SLAVE"),
        "The server sends its logs only to users who have this privilege.",
        run("GRANT REPLICATION SLAVE ON *.* TO {account};"),
    ),
    Rule(
        "replication-client", _ERROR, ("privileges",), "REPLICATION CLIENT (MariaDB: BINLOG MONITOR) is missing",
        missing_privilege("REPLICATION CLIENT", "BINLOG MONITOR", "SUPER"),
        "binspark may not ask which logs there are and where they end; nor whether databases are left out of them.",
        run("GRANT REPLICATION CLIENT ON *.* TO {account};"),
    ),
    Rule(
        "roles", _NOTE, ("roles",), "granted, and none is active",
        said(lambda facts: "" if facts.active_role else ", ".join(facts.grants.roles)),
        "None of these roles is active when the user logs in: their privileges do not count.",
        Mend("SET DEFAULT ROLE ALL TO {account};", "SET DEFAULT ROLE {role} FOR {account};"),
    ),
    Rule(
        "select", _NOTE, ("privileges",), "SELECT is missing", missing_privilege("SELECT"),
        "The server shows this user only the tables that it has a privilege on: the others were not looked at.",
        run("GRANT SELECT ON *.* TO {account};"),
    ),
)  # fmt: skip
