"""The problems that a server may have: one table, one rule per row. `docs/doctor.md` is generated from it."""

from __future__ import annotations

from collections.abc import Sequence

from binspark.doctor.rule import (
    RESTART,
    Finding,
    Fix,
    Problem,
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
    tables_with,
    unless,
    value_between,
    value_is,
    value_is_not,
    value_of,
    value_where,
)
from binspark.doctor.server_profile import ServerProfile, quoted_table
from binspark.schema.foreign_keys import CASCADES_BY_ENGINE

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

_DAY = 86400
_SMALL_LOG = 16 << 20
_NEW_SESSIONS = "-- it applies to sessions that begin afterwards"
_TOO_SHORT = (
    "Logs are purged before a reader that stops on a Friday is restarted on Monday: their changes are lost to it."
)
_DUMP = "mysqldump --no-data --all-databases > schema.sql, and --schema-file schema.sql"

RULES = (
    # What is in the logs.
    Rule(
        "log-bin", _ERROR, ("log_bin",), "OFF", value_is("OFF"),
        "The server does not write a binary log: there is nothing to read.",
        configure("in my.cnf, section [mysqld]: log_bin = binlog; and remove skip_log_bin and disable_log_bin"),
    ),
    Rule(
        "binlog-format", _ERROR, ("binlog_format",), "not ROW", value_is_not("ROW"),
        "Changes are logged as statements, from which rows cannot be read.",
        assign("ROW", _NEW_SESSIONS),
    ),
    Rule(
        "row-image", _ERROR, ("binlog_row_image",), "not FULL", value_is_not("FULL"),
        "Rows are incomplete: columns that did not change are missing. They are absent from JSON lines; in Arrow and "
        "Spark they are NULL, which looks like a NULL of the table.",
        assign("FULL", _NEW_SESSIONS),
    ),
    Rule(
        "replica-updates", _ERROR, ("log_replica_updates", "log_slave_updates"), "OFF on a replica",
        value_where(lambda value, profile: value == "OFF" and profile.is_replica),
        "The server does not log the changes that it replicates from its source: they are missing.",
        assign_and_restart("ON"),
    ),
    Rule(
        "do-db", _WARNING, ("binlog_do_db",), "not empty", value_of(lambda profile: profile.do_db),
        "Only these databases are logged: changes in all others are missing.",
        configure("remove {setting} from my.cnf"),
    ),
    Rule(
        "ignore-db", _WARNING, ("binlog_ignore_db",), "not empty", value_of(lambda profile: profile.ignore_db),
        "These databases are not logged: their changes are missing.",
        configure("remove {setting} from my.cnf"),
    ),
    Rule(
        "error-action", _WARNING, ("binlog_error_action",), "IGNORE_ERROR", value_is("IGNORE_ERROR"),
        "If a log cannot be written, the server continues without it: all later changes are missing.",
        assign("ABORT_SERVER"),
    ),
    Rule(
        "cascades", _WARNING, ("foreign keys",), "ON … CASCADE or SET NULL; MySQL before 9.6, and MariaDB",
        unless(
            lambda profile: CASCADES_BY_ENGINE in profile.variables,
            tables_with("cascading", lambda tables: tables.cascading),
        ),
        "When a row that they refer to changes, InnoDB changes rows of these tables without logging it: those changes "
        "are missing. Only a mirror of the server has them: it reads such rows again.",
        run("-- no setting logs them: change these rows by statements, without CASCADE and SET NULL, or use MySQL 9.6"),
    ),
    Rule(
        "native-foreign-keys", _WARNING, ("innodb_native_foreign_keys",), "ON, and a foreign key cascades",
        value_where(lambda value, profile: value == "ON" and profile.may_cascade),
        "When a row that a foreign key refers to changes, InnoDB changes the other table without logging it: those "
        "changes are missing.",
        mysql_only(assign_and_restart("OFF")),
    ),
    # What the logs contain about rows.
    Rule(
        "row-metadata", _WARNING, ("binlog_row_metadata",), "not FULL", value_is_not("FULL"),
        "The log does not contain names of columns, keys, and strings of ENUM and SET; with MariaDB's NO_LOG, neither "
        "signedness nor character sets. Columns are @1, @2… unless DDL in the log or a dump of the tables has their "
        "names.",
        assign("FULL"),
    ),
    Rule(
        "no-row-metadata", _WARNING, ("binlog_row_metadata",), "missing: MySQL before 8.0, MariaDB before 10.5",
        is_missing,
        "The log does not contain names of columns, keys, signedness and character sets. Columns are @1, @2… unless "
        "DDL in the log or a dump of the tables has their names.",
        run(f"-- give binspark a dump of the tables: {_DUMP}"),
    ),
    Rule(
        "no-key", _WARNING, ("primary keys",), "missing", tables_with("missing", lambda tables: tables.without_key),
        "Nothing identifies their rows: `key` is null, and a copy of the table cannot know which of two equal rows "
        "changed.",
        run(
            "ALTER TABLE {table} ADD COLUMN row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY;",
            "-- or better: ADD PRIMARY KEY, with the columns that identify a row; repeat for each table",
        ),
    ),
    Rule(
        "partial-json", _WARNING, ("binlog_row_value_options",), "PARTIAL_JSON", value_is_not(""),
        "For a JSON document only the changes are logged. binspark applies them to the old document; if "
        "binlog_row_image omits that, JSON lines show the changes, a mirror reads the row from the server, and "
        "Arrow and Spark fail on the row.",
        mysql_only(assign("''", _NEW_SESSIONS)),
    ),
    Rule(
        "old-times", _WARNING, ("times with fractions",), "MariaDB: in the format used before MySQL 5.6",
        tables_with("old format", lambda tables: tables.old_times),
        "The length of these values is not in the log: unless DDL in the log or a dump of the tables has it, their "
        "rows usually cannot be read.",
        mariadb_only(run("ALTER TABLE {table} FORCE;", "-- with mysql56_temporal_format = ON; repeat for each table")),
    ),
    Rule(
        "temporal-format", _WARNING, ("mysql56_temporal_format",), "OFF", value_is("OFF"),
        "New tables store times in the format used before MySQL 5.6. The length of those with fractions is not in the "
        "log: unless DDL in the log or a dump of the tables has it, their rows usually cannot be read.",
        mariadb_only(assign("ON")),
    ),
    Rule(
        "hidden-types", _NOTE, ("types",), "MariaDB: INET4, INET6, UUID",
        tables_with("INET4, INET6 or UUID", lambda tables: tables.hidden_types),
        "In the log these types look like BINARY: unless DDL in the log or a dump of the tables has the type, values "
        "are bytes.",
        mariadb_only(run(f"-- give binspark a dump of the tables: {_DUMP}")),
    ),
    Rule(
        "rows-query", _NOTE, ("binlog_rows_query_log_events", "binlog_annotate_row_events"), "OFF", value_is("OFF"),
        "The log does not contain the statement that changed the rows.",
        assign("ON", _NEW_SESSIONS),
    ),
    Rule(
        "lower-case", _NOTE, ("lower_case_table_names",), "not 0", value_is_not("0"),
        "The server accepts table names in any case; binspark compares them as the log writes them, so write --tables "
        "as `binspark stat` shows them. DDL in the log that writes a name in another case is taken to be about the "
        "table whose name differs only in case, unless the log shows that case matters.",
        run("-- it is fixed when the data directory is initialized; with binlog_row_metadata = FULL it matters less"),
    ),
    # Whether readers find their position.
    Rule(
        "server-id", _ERROR, ("server_id",), "0", value_is("0"),
        "A server without an id refuses to send its logs.",
        assign("1", "-- or another number: it must differ from the id of every other server and reader"),
    ),
    Rule(
        "gtid-mode", _WARNING, ("gtid_mode",), "OFF, OFF_PERMISSIVE", value_is("OFF", "OFF_PERMISSIVE"),
        "A position is a file and an offset, which have no meaning on another server: after a failover binspark cannot "
        "resume.",
        Fix(
            "SET PERSIST enforce_gtid_consistency = ON;\nSET PERSIST gtid_mode = OFF_PERMISSIVE;\n"
            "SET PERSIST gtid_mode = ON_PERMISSIVE;\n"
            "-- with replicas: first on all of them, and each step when they have applied all earlier transactions\n"
            "SET PERSIST gtid_mode = ON;",
            "SET GLOBAL enforce_gtid_consistency = ON;\nSET GLOBAL gtid_mode = OFF_PERMISSIVE;\n"
            "SET GLOBAL gtid_mode = ON_PERMISSIVE;\n"
            "-- with replicas: first on all of them, and each step when they have applied all earlier transactions\n"
            "SET GLOBAL gtid_mode = ON;\n"
            "-- and in my.cnf, section [mysqld]: enforce_gtid_consistency = ON, and gtid_mode = ON",
        ),
    ),
    Rule(
        "gtid-permissive", _WARNING, ("gtid_mode",), "ON_PERMISSIVE", value_is("ON_PERMISSIVE"),
        "The server still accepts transactions without a GTID, so that binspark does not read it by GTID.",
        assign("ON"),
    ),
    Rule(
        "gtid-strict", _NOTE, ("gtid_strict_mode",), "OFF", value_is("OFF"),
        "The sequence numbers of GTIDs may decrease when two servers write in the same domain; a reader that resumes "
        "from a GTID may then miss transactions.",
        mariadb_only(assign("ON")),
    ),
    # Whether logs exist and are correct.
    Rule(
        "retention-seconds", _WARNING, ("binlog_expire_logs_seconds",), "less than 3 days",
        unless(lambda profile: not profile.retention_seconds, value_between(0, 3 * _DAY)),
        _TOO_SHORT,
        assign(str(7 * _DAY)),
    ),
    Rule(
        "retention-days", _WARNING, ("expire_logs_days",), "less than 3, without binlog_expire_logs_seconds",
        unless(lambda profile: profile.variables.get("binlog_expire_logs_seconds", "0") != "0", value_between(0, 3)),
        _TOO_SHORT,
        assign("7"),
    ),
    Rule(
        "retention-size", _NOTE, ("binlog_space_limit", "max_binlog_total_size"), "not 0", value_is_not("0"),
        "Logs are purged when their total size exceeds this, whatever their age: a burst of changes shortens the time "
        "that a reader has to come back.",
        assign("0"),
    ),
    Rule(
        "retention-unlimited", _NOTE, ("binlog_expire_logs_seconds", "expire_logs_days"), "0",
        unless(
            lambda profile: profile.variables.get("binlog_expire_logs_auto_purge") == "OFF",
            value_where(lambda _, profile: not profile.retention_seconds),
        ),
        "Logs are never purged: a full disk stops the server, and its readers with it.",
        Fix(
            f"SET PERSIST binlog_expire_logs_seconds = {30 * _DAY};",
            "SET GLOBAL expire_logs_days = 30;\n-- and in my.cnf, section [mysqld]: expire_logs_days = 30",
        ),
    ),
    Rule(
        "auto-purge", _NOTE, ("binlog_expire_logs_auto_purge",), "OFF", value_is("OFF"),
        "Logs are kept until somebody purges them: a full disk stops the server, and its readers with it.",
        mysql_only(assign("ON")),
    ),
    Rule(
        "checksum", _WARNING, ("binlog_checksum",), "NONE", value_is("NONE"),
        "Damage on a disk or in transfer is not detected: a wrong value looks like any other.",
        assign("CRC32"),
    ),
    Rule(
        "sync-binlog", _WARNING, ("sync_binlog",), "not 1", value_is_not("1"),
        "If the machine crashes, the log may lose transactions that binspark has already read: a copy then has changes "
        "that the server does not have, and the position to resume from no longer exists.",
        assign("1"),
    ),
    Rule(
        "flush-log", _WARNING, ("innodb_flush_log_at_trx_commit",), "not 1", value_is_not("1"),
        "If the machine crashes, tables may lose transactions that are in the log: a copy made from the log then "
        "differs from them.",
        assign("1"),
    ),
    # What reading them costs.
    Rule(
        "storage-engine", _WARNING, ("binlog_storage_engine",), "not empty", value_is_not(""),
        "The logs are InnoDB pages (.ibb). binspark cannot read them as files, and their positions are not those of "
        "the binary log format.",
        mariadb_only(configure("remove {setting} from my.cnf")),
    ),
    Rule(
        "encryption", _NOTE, ("binlog_encryption", "encrypt_binlog"), "ON", value_is("ON"),
        "The server sends its logs unencrypted, so that following it works; its files are read with --keyring FILE.",
        assign_in_mysql("OFF"),
    ),
    Rule(
        "compression", _NOTE, ("binlog_transaction_compression",), "ON", value_is("ON"),
        "A transaction is a single event, however large: one reader has to decompress it, and its rows do not have "
        "positions of their own.",
        mysql_only(assign("OFF", _NEW_SESSIONS)),
    ),
    Rule(
        "event-compression", _NOTE, ("log_bin_compress",), "ON", value_is("ON"),
        "Events are decompressed one by one, which takes longer.",
        mariadb_only(assign("OFF")),
    ),
    Rule(
        "small-logs", _NOTE, ("max_binlog_size",), "less than 16 MiB", value_between(0, _SMALL_LOG),
        "There will be very many log files, each of which is listed, opened and planned for.",
        assign(str(1 << 30)),
    ),
    # What the user may do.
    Rule(
        "replication-slave", _ERROR, ("privileges",), "REPLICATION SLAVE is missing",
        missing_privilege("REPLICATION SLAVE"),
        "The server sends its logs only to users with this privilege.",
        run("GRANT REPLICATION SLAVE ON *.* TO {account};"),
    ),
    Rule(
        "replication-client", _ERROR, ("privileges",), "REPLICATION CLIENT (MariaDB: BINLOG MONITOR) is missing",
        missing_privilege("REPLICATION CLIENT", "BINLOG MONITOR", "SUPER"),
        "binspark may not list the logs and their ends, nor see which databases are not logged.",
        run("GRANT REPLICATION CLIENT ON *.* TO {account};"),
    ),
    Rule(
        "roles", _NOTE, ("roles",), "granted, and none is active",
        value_of(lambda profile: "" if profile.active_role else ", ".join(profile.grants.roles)),
        "None of these roles is active when the user logs in: their privileges do not apply.",
        Fix("SET DEFAULT ROLE ALL TO {account};", "SET DEFAULT ROLE {role} FOR {account};"),
    ),
    Rule(
        "select", _NOTE, ("privileges",), "SELECT is missing", missing_privilege("SELECT"),
        "The server shows this user only tables on which it has a privilege: the others were not checked, and Spark "
        "cannot stream them as typed tables.",
        run("GRANT SELECT ON *.* TO {account};", "-- or only on the tables that are read: GRANT SELECT ON shop.* TO …"),
    ),
)  # fmt: skip


def find_problems(profile: ServerProfile, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """Return the problems of a server, the most severe first."""
    checked = ((rule, rule.check(profile, rule.settings)) for rule in rules)
    findings = [_finding(rule, problem, profile) for rule, problem in checked if problem is not None]
    most_severe_first = list(Severity)
    return sorted(findings, key=lambda finding: most_severe_first.index(finding.severity))


def _finding(rule: Rule, problem: Problem, profile: ServerProfile) -> Finding:
    role = next(iter(profile.grants.roles), "")
    return finding(rule, problem, has_persist=profile.has_persist, account=profile.account, role=role)


def finding(rule: Rule, problem: Problem, *, has_persist: bool, account: str = "", role: str = "") -> Finding:
    """Return a problem that a rule is about, with the statements that fix it on such a server."""
    template = rule.fix.persisting if has_persist else rule.fix.plain
    table = "" if problem.table is None else quoted_table(problem.table)
    fix = template.format(setting=problem.setting, account=account, role=role, table=table)
    return Finding(rule.code, rule.severity, problem.setting, problem.value, rule.reason, fix, RESTART in fix)
