"""Where transactions begin and end, shown with events made by hand."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from binspark import event as events
from binspark.event import Event
from binspark.event.mariadb import MariadbGtidExtraFlag, MariadbGtidFlag, XaId
from binspark.event.registry import CODECS
from binspark.event.status_vars import StatusCode, StatusVariable
from binspark.frames import EventCode
from binspark.transactions import Assembler, Ending, TableChanges
from binspark.transactions.grammar import BOUNDARIES
from tests.support.transactions.transaction_events import ARTIFICIAL, RELAY_LOG, UUID, Tape, assembled, endings

STANDALONE = int(MariadbGtidFlag.STANDALONE)


@pytest.fixture
def log() -> Tape:
    return Tape()


def test_every_known_type_of_event_has_a_row_in_the_table() -> None:
    assert set(BOUNDARIES) == set(CODECS) == set(EventCode)


def test_a_transaction_reaches_from_its_gtid_to_its_xid(log: Tape) -> None:
    (transaction,) = assembled(log.gtid(5, 3, 99), log.begin(), log.table(), log.rows(), log.xid(42))
    assert transaction.ending is Ending.XID
    assert (transaction.start, transaction.end, transaction.length) == (4, log.offset, log.offset - 4)
    assert (transaction.file, transaction.end_file) == ("binlog.000001", "binlog.000001")
    assert (transaction.gtid, transaction.tag, transaction.declared_length) == (f"{UUID}:5", None, 99)
    assert (transaction.last_committed, transaction.sequence_number) == (3, 5)
    assert transaction.immediate_commit_timestamp == 1_700_000_000_000_002
    assert transaction.original_commit_timestamp == 1_700_000_000_000_001
    assert (transaction.events, transaction.xid, transaction.statements) == (5, 42, 0)
    assert (transaction.server_id, transaction.timestamp) == (1, 1_700_000_000)
    assert (transaction.thread_id, transaction.schema, transaction.compressed) == (7, "shop", False)


def test_rows_are_counted_for_each_table_and_operation(log: Tape) -> None:
    first = [log.table("a", 1), log.table("b", 2), log.rows(last=False, table_id=1), log.rows(table_id=2)]
    second = [log.table("c", 1), log.rows(table_id=1), log.table("a", 9), log.rows(table_id=9)]
    (transaction,) = assembled(log.begin(), *first, *second, log.xid())
    size = len(first[-1].frame.data)
    assert transaction.changes == (
        TableChanges("shop", "a", events.RowOperation.INSERT, 2, 2 * size),
        TableChanges("shop", "b", events.RowOperation.INSERT, 1, size),
        TableChanges("shop", "c", events.RowOperation.INSERT, 1, size),
    )


def test_a_table_that_was_not_named_in_the_statement_goes_by_its_id(log: Tape) -> None:
    (transaction,) = assembled(log.begin(), log.table("a", 1), log.rows(), log.rows(table_id=1), log.xid())
    assert [(changes.schema, changes.table) for changes in transaction.changes] == [("shop", "a"), ("", "#1")]


def test_a_rows_event_without_rows_changes_nothing(log: Tape) -> None:
    (transaction,) = assembled(log.begin(), log.rows(rows=b""), log.xid())
    assert transaction.changes == ()
    assert transaction.events == 3


def test_changes_of_tables_without_transactions_end_with_a_commit_statement(log: Tape) -> None:
    assert endings(log.gtid(1), log.begin(), log.table(), log.rows(), log.commit()) == ["commit"]


def test_a_rollback_to_a_savepoint_does_not_end_a_transaction(log: Tape) -> None:
    statements = [b"SAVEPOINT a", b"INSERT INTO t VALUES (1)", b"ROLLBACK TO a", b"RELEASE SAVEPOINT a", b"rollback "]
    assert endings(log.begin(), *(log.query(text) for text in statements)) == ["rollback"]


def test_ddl_is_a_transaction_of_one_statement(log: Tape) -> None:
    xid = StatusVariable(StatusCode.DDL_LOGGED_WITH_XID, 77)
    found = assembled(log.gtid(1), log.query(b"CREATE TABLE t (id INT)", xid), log.gtid(2), log.query(b"DROP TABLE t"))
    assert [transaction.ending for transaction in found] == [Ending.STATEMENT, Ending.STATEMENT]
    assert [transaction.ddl for transaction in found] == [b"CREATE TABLE t (id INT)", b"DROP TABLE t"]
    assert [transaction.xid for transaction in found] == [77, None]


def test_create_table_select_is_one_transaction(log: Tape) -> None:
    created = log.query(b"CREATE TABLE `d` (`id` int) START TRANSACTION")
    (transaction,) = assembled(log.gtid(1), log.begin(), created, log.table("d"), log.rows(), log.xid())
    assert transaction.ending is Ending.XID
    assert transaction.ddl == b"CREATE TABLE `d` (`id` int) START TRANSACTION"
    assert [changes.table for changes in transaction.changes] == ["d"]


def test_what_a_statement_needs_belongs_to_it(log: Tape) -> None:
    user_variable = log.put(EventCode.USER_VAR, events.UserVar("a", None, None, None))
    seeds = log.put(EventCode.RAND, events.Rand(1, 2))
    first, second = assembled(
        user_variable, seeds, log.intvar(), log.query(b"INSERT INTO t VALUES (@a)"), log.query(b"UPDATE t SET a = 1")
    )
    assert (first.start, first.events, first.ending) == (4, 4, Ending.STATEMENT)
    assert (second.start, second.events, second.texts) == (first.end, 1, (b"UPDATE t SET a = 1",))


def test_a_log_without_gtids_is_cut_at_begin_and_commit(log: Tape) -> None:
    myisam = [log.intvar(), log.query(b"INSERT INTO isam VALUES (NULL)")]
    innodb = [log.begin(), log.intvar(), log.query(b"INSERT INTO inno VALUES (NULL)"), log.xid()]
    ddl = [log.query(b"CREATE TABLE t (id INT)")]
    old = [log.begin(), log.query(b"DELETE FROM bdb"), log.commit()]
    found = assembled(*myisam, *innodb, *ddl, *old)
    assert [transaction.ending.value for transaction in found] == ["statement", "xid", "statement", "commit"]
    assert [transaction.events for transaction in found] == [2, 4, 1, 3]
    assert {transaction.gtid for transaction in found} == {None}


def test_rows_without_a_begin_end_with_their_statement(log: Tape) -> None:
    assert endings(log.table(), log.rows(last=False), log.rows(), log.table(), log.rows()) == ["statement"] * 2


def test_rows_under_a_gtid_wait_for_their_commit_even_without_a_begin(log: Tape) -> None:
    assert endings(log.gtid(1), log.table(), log.rows(), log.table(), log.rows(), log.xid()) == ["xid"]


def load(log: Tape, code: int) -> Event:
    separators = events.load.Separators(b",", b"", b"\n", b"", b"\\")
    body = events.Load(3, 0, 0, separators, (), "t", "shop", "t.csv")
    return log.put(code, body)


def blocks(log: Tape) -> list[Event]:
    first = log.put(EventCode.BEGIN_LOAD_QUERY, events.BeginLoadQuery(1, b"1\n"))
    return [first, log.put(EventCode.APPEND_BLOCK, events.AppendBlock(1, b"2\n"))]


def test_load_data_is_one_transaction_with_the_blocks_of_its_file(log: Tape) -> None:
    query = events.ExecuteLoadQuery(7, 0, 0, "shop", (), b"LOAD DATA INFILE 'f' INTO TABLE t", 1, 0, 3, 0)
    (transaction,) = assembled(*blocks(log), log.put(EventCode.EXECUTE_LOAD_QUERY, query))
    assert (transaction.ending, transaction.events, transaction.statements) == (Ending.STATEMENT, 3, 1)


def test_a_load_that_fails_is_a_transaction_too(log: Tape) -> None:
    assert endings(*blocks(log), log.put(EventCode.DELETE_FILE, events.DeleteFile(1))) == ["load_failed"]


def test_a_load_that_fails_inside_a_transaction_does_not_end_it(log: Tape) -> None:
    failed = [*blocks(log), log.put(EventCode.DELETE_FILE, events.DeleteFile(1))]
    assert endings(log.gtid(1), log.begin(), *failed, log.commit()) == ["commit"]


def test_the_oldest_load_data_is_a_statement(log: Tape) -> None:
    (transaction,) = assembled(load(log, EventCode.LOAD))
    assert (transaction.ending, transaction.statements, transaction.thread_id) == (Ending.STATEMENT, 1, 3)


def test_an_old_load_data_ends_when_it_is_executed(log: Tape) -> None:
    separators = events.load.Separators(b",", b"", b"\n", b"", b"\\")
    created = events.CreateFile(3, 0, 0, separators, (), "t", "shop", "t.csv", 1, b"1\n")
    file = log.put(EventCode.CREATE_FILE, created)
    assert endings(file, log.put(EventCode.EXEC_LOAD, events.ExecLoad(1))) == ["statement"]


def test_xa_transactions_end_when_they_are_prepared(log: Tape) -> None:
    name = b"X'6f6e65',X'',1"
    inside = [log.query(b"XA START " + name), log.table(), log.rows(), log.query(b"XA END " + name)]
    prepared, committed = assembled(
        log.gtid(1), *inside, log.xa_prepare(), log.gtid(2), log.query(b"XA COMMIT " + name)
    )
    assert (prepared.ending, committed.ending) == (Ending.XA_PREPARE, Ending.XA_COMMIT)
    assert prepared.xa == committed.xa == name.decode()
    assert prepared.statements == committed.statements == 0


@pytest.mark.parametrize(("one_phase", "ending"), [(True, "xa_one_phase"), (False, "xa_prepare")])
def test_an_xa_prepare_says_whether_it_commits_at_once(log: Tape, one_phase: bool, ending: str) -> None:
    assert endings(log.gtid(1), log.query(b"XA START 'a'"), log.xa_prepare(one_phase=one_phase)) == [ending]


def test_an_xa_rollback_is_a_transaction_of_its_own(log: Tape) -> None:
    assert endings(log.gtid(1), log.query(b"XA ROLLBACK X'6f6e65',X'',1")) == ["xa_rollback"]


def test_a_mariadb_gtid_is_a_begin_too(log: Tape) -> None:
    insert = log.query(b"INSERT INTO t VALUES (1)")
    (transaction,) = assembled(log.mariadb_gtid(9, commit_id=4, extra_flags=16, thread_id=88), insert, log.xid())
    assert (transaction.ending, transaction.gtid, transaction.domain_id) == (Ending.XID, "0-1-9", 0)
    assert (transaction.commit_id, transaction.gtid_flags, transaction.thread_id) == (4, 0, 88)


def test_a_standalone_mariadb_gtid_names_one_statement(log: Tape) -> None:
    ddl = log.query(b"CREATE TABLE t (id INT)")
    assert endings(log.mariadb_gtid(9, STANDALONE), ddl, log.mariadb_gtid(10), log.commit()) == ["standalone", "commit"]


@pytest.mark.parametrize(
    ("flag", "ending"),
    [
        (MariadbGtidExtraFlag.START_ALTER, "start_alter"),
        (MariadbGtidExtraFlag.COMMIT_ALTER, "commit_alter"),
        (MariadbGtidExtraFlag.ROLLBACK_ALTER, "rollback_alter"),
    ],
)
def test_each_part_of_a_two_phase_alter_is_reported(log: Tape, flag: MariadbGtidExtraFlag, ending: str) -> None:
    gtid = log.mariadb_gtid(9, STANDALONE, extra_flags=int(flag))
    assert endings(gtid, log.query(b"ALTER TABLE t ADD b INT")) == [ending]


def test_mariadb_names_an_xa_transaction_in_its_gtid(log: Tape) -> None:
    flags = STANDALONE | MariadbGtidFlag.COMPLETED_XA
    (transaction,) = assembled(
        log.mariadb_gtid(9, int(flags), xid=XaId(1, b"one", b"")), log.query(b"XA COMMIT X'6f6e65',X'',1")
    )
    assert (transaction.ending, transaction.xa) == (Ending.XA_COMMIT, "X'6f6e65',X'',1")


def test_a_payload_contains_the_rest_of_its_transaction(log: Tape) -> None:
    outer = [log.gtid(1), log.payload()]
    inner = [log.begin(), log.table(), log.rows(), log.xid(5)]
    log.unwrap()
    (transaction,) = assembled(*outer, *inner)
    assert (transaction.ending, transaction.xid, transaction.compressed) == (Ending.XID, 5, True)
    assert (transaction.start, transaction.end, transaction.length) == (4, log.offset, log.offset - 4)
    assert transaction.events == 6
    assert transaction.changes == (TableChanges("shop", "t", events.RowOperation.INSERT, 1, len(inner[2].frame.data)),)


def test_a_payload_whose_events_do_not_come_is_a_transaction_all_the_same(log: Tape) -> None:
    first = [log.gtid(1), log.payload()]
    log.unwrap()
    second = [log.gtid(2), log.payload()]
    assert endings(*first, *second) == ["payload", "payload"]


def test_a_payload_that_was_expanded_and_contains_no_end_is_unfinished(log: Tape) -> None:
    assert endings(log.gtid(1), log.payload(), log.begin(), log.table()) == ["unfinished"]


def test_compressed_statements_and_rows_are_reported(log: Tape) -> None:
    body = events.QueryCompressed(7, 0, 0, "shop", (), b"CREATE TABLE t (id INT)")
    query = log.put(EventCode.QUERY_COMPRESSED, body)
    rows = log.rows()
    marked = Event(rows.frame, replace(rows.body, compressed=b"block"), rows.file)
    compressed = [log.mariadb_gtid(1, STANDALONE), query, log.mariadb_gtid(2), marked, log.xid()]
    ddl, dml, plain = assembled(*compressed, log.mariadb_gtid(3), log.commit())
    assert (ddl.compressed, dml.compressed, plain.compressed) == (True, True, False)


def test_a_new_gtid_interrupts_what_is_open(log: Tape) -> None:
    found = assembled(log.gtid(1), log.begin(), log.table(), log.gtid(2), log.begin(), log.xid())
    assert [transaction.ending.value for transaction in found] == ["interrupted", "xid"]
    assert [transaction.events for transaction in found] == [3, 3]
    assert [transaction.complete for transaction in found] == [False, True]


def test_a_new_begin_interrupts_what_is_open(log: Tape) -> None:
    assert endings(log.begin(), log.table(), log.begin(), log.xid()) == ["interrupted", "xid"]


def test_a_log_that_ends_leaves_its_transaction_unfinished(log: Tape) -> None:
    (transaction,) = assembled(log.gtid(1), log.begin(), log.table())
    assert (transaction.ending, transaction.complete) == (Ending.UNFINISHED, False)


def start_v3(log: Tape) -> Event:
    return log.put(EventCode.START_V3, events.StartV3(3, "4.0.30", 1))


@pytest.mark.parametrize("breaking", [Tape.description, Tape.rotate, Tape.stop, start_v3])
def test_a_log_that_begins_or_ends_in_a_transaction_cuts_it_off(log: Tape, breaking: type) -> None:
    assert endings(log.gtid(1), log.begin(), breaking(log)) == ["crash"]


def test_another_file_cuts_off_what_is_open(log: Tape) -> None:
    other = Tape("binlog.000002")
    assert endings(log.begin(), log.table(), other.table(), other.rows()) == ["crash", "statement"]


def test_artificial_rotations_and_descriptions_do_not_break_a_transaction(log: Tape) -> None:
    begun = [log.gtid(1), log.begin()]
    artificial = [log.rotate(flags=ARTIFICIAL), log.description(flags=ARTIFICIAL)]
    (transaction,) = assembled(*begun, *artificial, log.xid())
    assert (transaction.ending, transaction.events) == (Ending.XID, 3)
    assert transaction.length == transaction.end - transaction.start - sum(
        len(event.frame.data) for event in artificial
    )


def test_a_transaction_continues_in_the_next_relay_log() -> None:
    first, second = Tape("relay.000001"), Tape("relay.000002")
    start = [first.description(flags=RELAY_LOG, server_id=2), first.rotate(flags=ARTIFICIAL), first.description()]
    begun = [first.gtid(1), first.begin(), first.table(), first.rotate(flags=RELAY_LOG)]
    again = [second.description(flags=RELAY_LOG, server_id=2), second.rotate(), second.description(created=0)]
    (transaction,) = assembled(*start, *begun, *again, second.rows(), second.xid())
    assert (transaction.ending, transaction.events) == (Ending.XID, 5)
    assert (transaction.file, transaction.start) == ("relay.000001", begun[0].offset)
    assert (transaction.end_file, transaction.end) == ("relay.000002", second.offset)


def test_a_source_that_restarts_cuts_off_a_transaction_in_a_relay_log(log: Tape) -> None:
    start = [log.description(flags=RELAY_LOG, server_id=2), log.gtid(1), log.begin()]
    assert endings(*start, log.description(created=1)) == ["crash"]


def test_events_of_the_log_itself_belong_to_no_transaction(log: Tape) -> None:
    aside = [
        log.put(EventCode.HEARTBEAT, events.Heartbeat("binlog.000001")),
        log.put(EventCode.BINLOG_CHECKPOINT, events.BinlogCheckpoint("binlog.000001")),
        log.put(EventCode.GTID_LIST, events.GtidList(0, ())),
    ]
    (transaction,) = assembled(*aside, log.gtid(1), log.begin(), *aside, log.xid(), *aside)
    assert (transaction.ending, transaction.events) == (Ending.XID, 3)


def test_an_unknown_event_belongs_to_the_transaction_around_it(log: Tape) -> None:
    unknown = log.put(200, events.UnknownEvent(200, b"?"))
    (transaction,) = assembled(unknown, log.gtid(1), log.begin(), unknown, log.xid(), unknown)
    assert transaction.events == 4


def test_an_incident_under_its_gtid_is_a_transaction(log: Tape) -> None:
    (transaction,) = assembled(log.gtid(1), log.incident())
    assert (transaction.ending, transaction.gtid) == (Ending.INCIDENT, f"{UUID}:1")


def test_an_incident_without_a_gtid_is_not_lost(log: Tape) -> None:
    assert endings(log.incident()) == ["incident"]


def test_a_view_change_is_a_transaction_with_and_without_a_begin(log: Tape) -> None:
    view = log.put(EventCode.VIEW_CHANGE, events.ViewChange("1:1", 1, ()))
    assert endings(log.gtid(1), view, log.gtid(2), log.begin(), view, log.commit()) == ["view_change", "commit"]


def test_a_transaction_context_belongs_to_its_transaction(log: Tape) -> None:
    context = log.put(
        EventCode.TRANSACTION_CONTEXT, events.TransactionContext(UUID, 1, False, None, False, (b"row",), ())
    )
    (transaction,) = assembled(log.gtid(1), context, log.begin(), log.xid())
    assert (transaction.ending, transaction.events) == (Ending.XID, 4)


def test_a_lone_end_is_not_lost(log: Tape) -> None:
    assert endings(log.xid(), log.commit()) == ["xid", "commit"]


def test_anonymous_transactions_have_no_gtid(log: Tape) -> None:
    (transaction,) = assembled(log.anonymous(), log.begin(), log.xid())
    assert (transaction.gtid, transaction.tag, transaction.sequence_number) == (None, None, None)


def test_a_tagged_gtid_is_reported_with_its_tag(log: Tape) -> None:
    body = events.GtidTagged(0, UUID, 3, "nightly", 0, 1, 2, 1, 50, 90600, 90600)
    (transaction,) = assembled(log.put(EventCode.GTID_TAGGED, body), log.begin(), log.xid())
    assert (transaction.gtid, transaction.tag) == (f"{UUID}:nightly:3", "nightly")
    assert transaction.declared_length == 50


def test_texts_are_kept_up_to_the_limit_and_counted_beyond(log: Tape) -> None:
    assembler = Assembler(text_limit=10)
    statements = [b"INSERT 1", b"INSERT 2", b"INSERT 3", b"CREATE TABLE long_name (id INT)"]
    for event in (log.begin(), *(log.query(text) for text in statements)):
        assert assembler.feed(event) == []
    (transaction,) = assembler.feed(log.xid())
    assert transaction.texts == (b"INSERT 1", b"IN")
    assert transaction.ddl == b"CREATE TAB"
    assert transaction.statements == 4


def test_a_watcher_sees_the_events_of_each_transaction(log: Tape) -> None:
    seen: list[tuple[int, str]] = []
    assembler = Assembler(watcher=lambda number, event: seen.append((number, event.type)))
    drop = [log.gtid(2), log.query(b"DROP TABLE t")]
    stream = [log.description(), log.gtid(1), log.begin(), log.xid(), *drop, log.stop()]
    ended = [transaction for event in stream for transaction in assembler.feed(event)]
    assert seen == [(0, "GTID"), (0, "QUERY"), (0, "XID"), (1, "GTID"), (1, "QUERY")]
    assert [transaction.number for transaction in ended] == [0, 1]


def test_an_open_transaction_keeps_none_of_its_events(log: Tape) -> None:
    assembler = Assembler()
    sizes: list[int] = []
    for event in (log.gtid(1), log.begin(), *(make(log) for _ in range(500) for make in (Tape.table, Tape.rows))):
        assembler.feed(event)
        sizes.append(len(pickle.dumps(vars(assembler.draft))))
    assert max(sizes) < sizes[10] + 100
