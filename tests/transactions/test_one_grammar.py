"""One grammar: every reader of logs finds the transactions that the Assembler finds."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from binspark.changes.reader import ChangeReader
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.columns.starts import LogBytes
from binspark.event import Event, EventDecoder, Query, Rows
from binspark.event.mariadb import MariadbGtidFlag
from binspark.event.rows import RowsFlag
from binspark.frames import EventCode, Framer, HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET, MAGIC
from binspark.gtid import GtidSet
from binspark.kernels.packet_layout import Outcome
from binspark.replication.channel import Memory, UnreadPackets
from binspark.replication.chunk import LogChunk
from binspark.replication.sources import EventSource
from binspark.replication.stream import StreamEvent
from binspark.replication.unpack import KernelUnpacker, Unpacked, UnpackFunction, unpack_plainly
from binspark.spark.options import SourceOptions
from binspark.spark.views.events import EventsView, TransactionsView
from binspark.testing.builder import ServerKind
from binspark.transactions import Assembler, Transaction
from binspark.transactions.byte_tables import (
    EXACT_TEXTS,
    FIRST_LETTERS,
    IDENTIFYING_CODES,
    OUTSIDE_CODES,
    PROGRESS_AFTER,
    PROGRESS_COUNT,
    ROLES,
    exact_role,
    role_in_bytes,
    statement_text,
)
from binspark.transactions.grammar import (
    BOUNDARIES,
    EXACT_STATEMENTS,
    GTID_STANDALONE,
    GTID_XA,
    ROWS_ENDS_STATEMENT,
    STATEMENT_FORMS,
    TRANSITIONS,
    Progress,
    Role,
    begins_another,
    boundary_of,
    boundary_of_text,
    progress_after,
)
from binspark.verify.checks import LogKind
from binspark.verify.findings import Findings
from binspark.verify.log_checks import Checks
from tests.corpus.cases import corpus_logs, log_id
from tests.support.columns.random_logs import RandomLog, logs
from tests.support.examples import examples
from tests.support.replication.scripted_server import packets
from tests.support.transactions.grammar_logs import SERVERS, STATEMENTS, event_soups, every_pair_of_stories, stories

BY_BODY = (Role.BY_STATEMENT, Role.BY_ROWS_FLAGS, Role.BY_GTID_FLAGS, Role.UNDECIDED)
FILE = "binlog.000001"
LOGS = [log for log in corpus_logs() if log.read_bytes()[:4] == MAGIC]
OWN_LOGS = [log for log in LOGS if not log.name.startswith("relay")]
"""Logs that a server sends. Relay logs are another server's: only readers of files see them."""

every_log = pytest.mark.parametrize("log", LOGS, ids=log_id)
every_own_log = pytest.mark.parametrize("log", OWN_LOGS, ids=log_id)
many = settings(max_examples=examples(120), deadline=None, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class Known:
    """A log, and what the Assembler says of it. Payloads are expanded only for `expanded`.

    in_progress   where the transaction began that is in progress after each event; None for none
    owners        the transaction of each event, by the number of the event; of those that belong to one
    """

    content: bytes
    events: tuple[Event, ...]
    transactions: tuple[Transaction, ...]
    in_progress: tuple[int | None, ...]
    owners: dict[int, int]
    expanded: tuple[Event, ...]

    def owner(self, number: int) -> Transaction | None:
        return self.transactions[self.owners[number]] if number in self.owners else None

    def first_event(self, transaction: Transaction) -> Event:
        return next(event for event in self.events if event.offset == transaction.start)


def known(content: bytes) -> Known:
    """Let the Assembler read a log."""
    decoder = EventDecoder(FILE)
    events = tuple(map(decoder.decode, Framer().feed(content)))
    owners: dict[int, int] = {}
    numbers = {id(event): number for number, event in enumerate(events)}
    assembler = Assembler(watcher=lambda owner, event: owners.update({numbers[id(event)]: owner}))
    ended: list[Transaction] = []
    open_owners: list[int | None] = []
    for event in events:
        ended += assembler.feed(event)
        open_owners.append(owners[max(owners)] if assembler.is_open else None)
    ended += assembler.finish()
    in_progress = [None if owner is None else ended[owner].start for owner in open_owners]
    expanded: list[Event] = []
    for event in events:
        expanded.append(event)
        if event.type_code == EventCode.TRANSACTION_PAYLOAD:
            expanded += decoder.inner_events(event)
    return Known(content, events, tuple(ended), tuple(in_progress), owners, tuple(expanded))


@lru_cache(maxsize=4)
def known_log(log: Path) -> Known:
    return known(log.read_bytes())


def spans(transactions: list[Transaction] | tuple[Transaction, ...]) -> list[tuple[int, int, str | None]]:
    return [(each.start, each.end, each.gtid) for each in transactions]


# --- The grammar itself -----------------------------------------------------------------------------------------------


def test_every_code_has_a_role_that_kernels_know() -> None:
    assert set(BOUNDARIES) == set(EventCode)
    assert [ROLES[code] for code in EventCode] == [BOUNDARIES[code].role for code in EventCode]
    assert {ROLES[code] for code in range(256) if code not in BOUNDARIES} == {Role.JOINS}


def test_every_role_that_is_decided_has_a_transition_from_everything() -> None:
    assert set(TRANSITIONS) == set(Role) - set(BY_BODY)
    assert {len(row) for row in TRANSITIONS.values()} == {len(Progress)}
    for role, row in TRANSITIONS.items():
        assert [PROGRESS_AFTER[PROGRESS_COUNT * role + before] for before in Progress] == list(row)
        assert [progress_after(role, before) for before in Progress] == list(row)


def test_a_gtid_always_begins_another_transaction_and_a_begin_unless_it_belongs_to_a_gtid() -> None:
    found = {role: {before for before in Progress if begins_another(role, before)} for role in TRANSITIONS}
    assert {role: before for role, before in found.items() if before} == {
        Role.IDENTIFIES: set(Progress),
        Role.OPENS: set(Progress),
        Role.BEGINS: {Progress.PREPARED, Progress.ANNOUNCED, Progress.BEGUN},
    }


def test_flags_are_those_of_the_decoders() -> None:
    assert (GTID_STANDALONE, ROWS_ENDS_STATEMENT) == (MariadbGtidFlag.STANDALONE, RowsFlag.STMT_END)
    assert GTID_XA == MariadbGtidFlag.PREPARED_XA | MariadbGtidFlag.COMPLETED_XA


MYSQL_9_7_CODES, MARIADB_12_3_CODES = range(44), range(160, 173)


def test_codes_are_those_of_the_format() -> None:
    assert IDENTIFYING_CODES == (33, 34, 42, 162)
    outside = {EventCode(code).name for code in OUTSIDE_CODES if code in MYSQL_9_7_CODES or code in MARIADB_12_3_CODES}
    assert outside == {
        "START_V3", "STOP", "ROTATE", "SLAVE", "FORMAT_DESCRIPTION", "HEARTBEAT", "PREVIOUS_GTIDS", "HEARTBEAT_V2",
        "LARGE_TRANSACTION_HEADER", "BINLOG_CHECKPOINT", "GTID_LIST", "START_ENCRYPTION",
    }  # fmt: skip


def test_exact_texts_mean_what_their_words_mean() -> None:
    assert (
        tuple((len(text), int.from_bytes(text, "little"), boundary.role) for text, boundary in EXACT_STATEMENTS.items())
        == EXACT_TEXTS
    )
    for text, boundary in EXACT_STATEMENTS.items():
        assert boundary_of_text(text + b" ") == boundary
        assert exact_role(text) == boundary.role
        assert exact_role(text.lower()) == exact_role(text + b" ") == Role.BY_STATEMENT


@pytest.mark.parametrize("form", STATEMENT_FORMS, ids=lambda form: form.word.decode())
def test_the_first_letters_of_every_form_are_known(form: Any) -> None:
    assert int.from_bytes(form.word[:2].lower(), "little") in FIRST_LETTERS


@pytest.mark.parametrize("text", [*STATEMENTS, "\tBEGIN", "\nCOMMIT", "Xa eNd 'a'", "Savepoint a", "RE", "b"])
def test_bytes_decide_what_the_text_says_or_nothing(text: str) -> None:
    body = bytes(13) + b"\0" + text.encode()
    role = role_in_bytes(Role.BY_STATEMENT, body)
    assert role in (boundary_of_text(text.encode()).role, Role.UNDECIDED)
    assert statement_text(body) == text.encode()


def test_the_tables_load_no_decoder() -> None:
    check = "import sys; import binspark.transactions.byte_tables; print([m for m in sys.modules if 'event' in m])"
    done = subprocess.run([sys.executable, "-c", check], stdout=subprocess.PIPE, text=True, check=True)
    assert [name for name in done.stdout.split("'") if name.startswith("binspark")] == []


# --- Readers of a log: each is checked against the Assembler ----------------------------------------------------------


def check_expansion(log: Known) -> None:
    """Payloads that are expanded are the same transactions."""
    assembler = Assembler()
    ended = [transaction for event in log.expanded for transaction in assembler.feed(event)]
    assert spans([*ended, *assembler.finish()]) == spans(log.transactions)


def check_byte_tables(log: Known) -> None:
    """Bytes alone say what is in progress, or that the event has to be decoded."""
    progress = Progress.NONE
    for event, in_progress in zip(log.events, log.in_progress, strict=True):
        role = role_in_bytes(ROLES[event.type_code], event.frame.body)
        if event.type_code == EventCode.QUERY_COMPRESSED or role == Role.UNDECIDED:
            role = boundary_of(event).role
        progress = progress_after(Role(role), progress)
        assert (progress is not Progress.NONE) == (in_progress is not None), event


def check_unpacker(log: Known, unpack: UnpackFunction) -> None:
    """An unpacker of packets knows what is in progress; events that it leaves to the stream are decoded."""
    progress = Progress.NONE
    for event, in_progress in zip(log.events, log.in_progress, strict=True):
        outcome, unpacked = unpacked_progress(unpack, event, progress)
        decoded = progress_after(boundary_of(event).role, progress)
        assert outcome in (Outcome.MORE, Outcome.PYTHON)
        assert unpacked is (decoded if outcome == Outcome.MORE else progress), event
        progress = decoded
        assert (progress is not Progress.NONE) == (in_progress is not None), event


def unpacked_progress(unpack: UnpackFunction, event: Event, before: Progress) -> tuple[Outcome, Progress]:
    """Unpack one event; return why that ended, and what is in progress then."""
    sent = packets([b"\0" + event.frame.data])
    unread = UnreadPackets(Memory(len(sent)), end=len(sent), sequence=1)
    unread.memory.view[: len(sent)] = sent
    checksum = bool(event.frame.format.checksum_length)
    unpacked = Unpacked(Memory(len(sent)), offset=event.offset, checksum=checksum, progress=before)
    return unpack(unread, unpacked), Progress(unpacked.progress)


def check_index(log: Known) -> None:
    """The transaction index has every transaction that a GTID begins; statements are all but BEGIN and COMMIT."""
    first = log.events[0].frame
    chunk = LogChunk(FILE, FIRST_EVENT_OFFSET, first.format, memoryview(log.content)[FIRST_EVENT_OFFSET:])
    named = [each.start for each in log.transactions if log.first_event(each).type_code in IDENTIFYING_CODES]
    assert chunk.transactions.starts.tolist() == named
    plain = [
        event.offset
        for event in log.events
        if isinstance(event.body, Query)
        and event.type_code in (EventCode.QUERY, EventCode.QUERY_COMPRESSED, EventCode.EXECUTE_LOAD_QUERY)
        and (event.body.query not in EXACT_STATEMENTS or event.type_code != EventCode.QUERY)
    ]
    assert [event.offset for event in chunk.statements()] == plain


def check_followed(log: Known) -> None:
    """Following event by event delivers the transactions that are complete, and every event between them."""
    events = [StreamEvent(FILE, event.frame, in_file=True) for event in log.events]
    chunks = list(EventSource(events, 1 << 20))
    found = [(chunk.offset, chunk.end) for chunk in chunks if chunk.is_transaction]
    assert found == [(each.start, each.end) for each in log.transactions if each.complete]


def check_starts(log: Known) -> None:
    """Transactions are found from any byte: those that a GTID begins, or a BEGIN where servers write no GTID."""
    log_format = log.events[-1].frame.format
    file = LogBytes(lambda offset, length: log.content[offset : offset + length], len(log.content), log_format)
    found, start = [], FIRST_EVENT_OFFSET
    while (at := file.find_start(start)) is not None:
        found.append(at)
        start = at + 1
    firsts = [log.first_event(each) for each in log.transactions]
    begins = [event for event in firsts if file.may_begin_unnamed and is_exact_begin(event)]
    named = [event for event in firsts if event.type_code in IDENTIFYING_CODES]
    assert found == sorted(event.offset for event in (*named, *begins))


def is_exact_begin(event: Event) -> bool:
    return event.type_code == EventCode.QUERY and event.body.query == b"BEGIN"


def check_verify(log: Known) -> None:
    """`verify` sees the same transactions in progress, and counts those that are complete."""
    head = log.events[0].frame
    relay = bool(head.header.flags & HeaderFlag.RELAY_LOG)
    checks = Checks(LogKind.of(head, relay=relay), Findings(FILE))
    for event, in_progress in zip(log.events, log.in_progress, strict=True):
        checks.check(event.frame)
        first = checks.transactions.in_progress
        assert (None if first is None else first.offset) == in_progress, event
    assert checks.transactions.count == sum(transaction.complete for transaction in log.transactions)


@dataclass(frozen=True)
class MemoryReader:
    """Gives Spark's views the bytes of a log."""

    log: Known

    def batches(self, _part: Any, _make_reader: Any) -> Iterator[Any]:
        raise NotImplementedError

    def scan(self, _part: Any, scan: Any) -> Iterator[Any]:
        read: Iterator[Any] = scan.read(io.BytesIO(self.log.content).readinto, FILE)
        return read


def check_transactions_view(log: Known, *, expand: bool = True) -> None:
    """Spark's view has a row for each transaction."""
    target = pa.schema([("pos", pa.int64()), ("end_pos", pa.int64()), ("gtid", pa.string())])
    view = TransactionsView(SourceOptions(expand_payloads=expand), target)
    rows = [row for batch in view.read(None, MemoryReader(log)) for row in batch.to_pylist()]
    assert [(row["pos"], row["end_pos"], row["gtid"]) for row in rows] == spans(log.transactions)


def check_events_view(log: Known) -> None:
    """Spark's view of the events of one MySQL transaction has its events, and no other."""
    named = [number for number, each in enumerate(log.transactions) if each.gtid and each.domain_id is None]
    for number in named[:5]:
        selection = Selection(include_gtids=GtidSet(str(log.transactions[number].gtid)))
        view = EventsView(SourceOptions(selection=selection, expand_payloads=False), pa.schema([("pos", pa.int64())]))
        found = [row["pos"] for batch in view.read(None, MemoryReader(log)) for row in batch.to_pylist()]
        assert found == [event.offset for at, event in enumerate(log.events) if log.owners.get(at) == number]


def check_rows(log: Known, reader: BatchReader) -> None:
    """Rows from kernels have the GTID of their transaction, and are numbered through it."""
    found = []
    for batch in reader.read(io.BytesIO(log.content).readinto, FILE):
        columns = (batch.batch[name].to_pylist() for name in ("_log_pos", "_log_row", "_tx_row", "_gtid"))
        found += list(zip(*columns, strict=True))
    owners = {event.offset: log.owners[at] for at, event in enumerate(log.events) if at in log.owners}
    counts: dict[int, int] = {}
    for offset, _row, tx_row, gtid in sorted(found):
        owner = owners[offset]
        assert gtid == log.transactions[owner].gtid
        assert tx_row == counts.get(owner, 0)
        counts[owner] = tx_row + 1
    assert sum(counts.values()) > 0 or not any(isinstance(event.body, Rows) and event.body.rows for event in log.events)


def check_changes(log: Known, reader: ChangeReader) -> None:
    """Rows from the object API have the GTID of their transaction."""
    owners = {event.offset: log.owner(at) for at, event in enumerate(log.events)}
    for event in log.expanded:
        for change in reader.feed(event):
            owner = owners[event.offset]
            assert owner is not None
            assert change.gtid == owner.gtid


# --- Over the corpus --------------------------------------------------------------------------------------------------


@every_log
def test_payloads_change_no_boundary(log: Path) -> None:
    check_expansion(known_log(log))


@every_own_log
def test_byte_tables_find_the_boundaries(log: Path) -> None:
    check_byte_tables(known_log(log))


@every_own_log
def test_the_plain_unpacker_finds_the_boundaries(log: Path) -> None:
    check_unpacker(known_log(log), unpack_plainly)


@every_own_log
def test_the_kernel_unpacker_finds_the_boundaries(log: Path) -> None:
    check_unpacker(known_log(log), KernelUnpacker())


@every_own_log
def test_the_transaction_index_finds_the_boundaries(log: Path) -> None:
    check_index(known_log(log))


@every_own_log
def test_following_finds_the_boundaries(log: Path) -> None:
    check_followed(known_log(log))


@every_own_log
def test_the_search_finds_the_starts(log: Path) -> None:
    check_starts(known_log(log))


@every_log
def test_verify_finds_the_boundaries(log: Path) -> None:
    check_verify(known_log(log))


@every_log
def test_sparks_view_of_transactions_finds_the_boundaries(log: Path) -> None:
    check_transactions_view(known_log(log))


@pytest.mark.parametrize("log", [log for log in OWN_LOGS if "mysql" in log.parts], ids=log_id)
def test_sparks_view_of_events_finds_the_boundaries(log: Path) -> None:
    check_events_view(known_log(log))


@pytest.mark.parametrize("log", [log for log in OWN_LOGS if "json-partial-minimal" not in log.parts], ids=log_id)
def test_kernels_give_rows_their_transactions(log: Path) -> None:
    check_rows(known_log(log), BatchReader(Selection(tx_rows=True)))


@every_own_log
def test_the_object_api_gives_rows_their_transactions(log: Path) -> None:
    check_changes(known_log(log), ChangeReader(Selection()))


# --- Over random logs -------------------------------------------------------------------------------------------------


@many
@given(event_soups())
def test_readers_agree_on_events_in_any_order(content: bytes) -> None:
    log = known(content)
    check_byte_tables(log)
    check_unpacker(log, unpack_plainly)
    check_unpacker(log, KernelUnpacker())
    check_index(log)
    check_followed(log)
    check_starts(log)
    check_verify(log)
    check_transactions_view(log, expand=False)


@many
@given(stories())
def test_readers_agree_on_transactions_as_servers_write_them(content: bytes) -> None:
    check_every_reader(known(content))


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.server_version)
def test_readers_agree_on_every_pair_of_transactions(server: ServerKind) -> None:
    check_every_reader(known(every_pair_of_stories(server)))


def check_every_reader(log: Known) -> None:
    check_expansion(log)
    check_byte_tables(log)
    check_unpacker(log, unpack_plainly)
    check_unpacker(log, KernelUnpacker())
    check_index(log)
    check_followed(log)
    check_starts(log)
    check_verify(log)
    check_transactions_view(log)
    check_events_view(log)
    check_rows(log, BatchReader(Selection(tx_rows=True)))
    check_changes(log, ChangeReader(Selection()))


@many
@given(logs(damage=False, payloads=False))
def test_readers_agree_on_random_rows(random_log: RandomLog) -> None:
    log = known(random_log.content)
    check_unpacker(log, KernelUnpacker())
    check_starts(log)
    check_verify(log)
    check_rows(log, BatchReader(Selection(tx_rows=True), random_log.history()))
    check_changes(log, ChangeReader(Selection(), random_log.history()))
