"""Whatever events come, in whatever order: no crash, and no event belongs to two transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import DecodeError
from binspark.event import (
    AppendBlock,
    BeginLoadQuery,
    DeleteFile,
    Event,
    GtidTagged,
    Heartbeat,
    UnknownEvent,
    ViewChange,
    decode_event,
)
from binspark.frames import EventCode, Frame
from binspark.frames.codes import KNOWN_CODES
from binspark.transactions import Assembler, Transaction, transactions
from tests.support.transactions.transaction_events import ARTIFICIAL, RELAY_LOG, Tape

STATEMENTS = (
    b"BEGIN,COMMIT,ROLLBACK,ROLLBACK TO a,SAVEPOINT a,XA START 'a',XA END 'a',XA COMMIT 'a',XA ROLLBACK 'a',"
    b"DROP TABLE t,INSERT INTO t VALUES (1),"
).split(b",")
TAGGED = GtidTagged(0, "b8ae2fd2-3005-11f0-8be8-0242ac150002", 3, "t", 0, 1, 2, 1, 50, 90600, 90600)

Maker = Callable[[Tape], Event]

numbers = st.integers(1, 9)
makers: st.SearchStrategy[Maker] = st.one_of(
    st.sampled_from(STATEMENTS).map(lambda text: partial(Tape.query, text=text)),
    st.builds(lambda number: partial(Tape.gtid, number=number), numbers),
    st.builds(lambda flags: partial(Tape.mariadb_gtid, number=1, flags=flags), st.sampled_from([0, 1, 4])),
    st.builds(lambda last, id_: partial(Tape.rows, last=last, table_id=id_), st.booleans(), st.integers(1, 3)),
    st.builds(lambda flags: partial(Tape.description, flags=flags), st.sampled_from([0, ARTIFICIAL, RELAY_LOG])),
    st.builds(lambda flags: partial(Tape.rotate, flags=flags), st.sampled_from([0, ARTIFICIAL, RELAY_LOG])),
    st.builds(lambda one_phase: partial(Tape.xa_prepare, one_phase=one_phase), st.booleans()),
    st.sampled_from([Tape.anonymous, Tape.xid, Tape.table, Tape.intvar, Tape.incident, Tape.stop, Tape.payload]),
    st.sampled_from(
        [
            partial(Tape.put, code=EventCode.GTID_TAGGED, body=TAGGED),
            partial(Tape.put, code=EventCode.BEGIN_LOAD_QUERY, body=BeginLoadQuery(1, b"")),
            partial(Tape.put, code=EventCode.APPEND_BLOCK, body=AppendBlock(1, b"")),
            partial(Tape.put, code=EventCode.DELETE_FILE, body=DeleteFile(1)),
            partial(Tape.put, code=EventCode.VIEW_CHANGE, body=ViewChange("1", 1, ())),
            partial(Tape.put, code=EventCode.HEARTBEAT, body=Heartbeat("binlog.000001")),
            partial(Tape.put, code=200, body=UnknownEvent(200, b"?")),
        ]
    ),
)


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    """Streams over several files; what follows a payload lies inside it for a while."""
    events: list[Event] = []
    for file in range(draw(st.integers(1, 3))):
        tape = Tape(f"binlog.{file + 1:06}", draw(st.sampled_from([4, 500])))
        for maker in draw(st.lists(makers, max_size=20)):
            events.append(maker(tape))
            if draw(st.integers(0, 3)) == 0:
                tape.unwrap()
        tape.unwrap()
    return events


def watched(events: list[Event]) -> tuple[list[Transaction], list[tuple[int, Event]]]:
    seen: list[tuple[int, Event]] = []
    assembler = Assembler(watcher=lambda number, event: seen.append((number, event)))
    ended = [transaction for event in events for transaction in assembler.feed(event)]
    return ended + assembler.finish(), seen


@given(streams())
def test_an_event_belongs_to_at_most_one_transaction(events: list[Event]) -> None:
    _, seen = watched(events)
    assert max(Counter(id(event) for _, event in seen).values(), default=1) == 1


@given(streams())
def test_transactions_are_reported_once_in_order_with_all_their_events(events: list[Event]) -> None:
    ended, seen = watched(events)
    assert [transaction.number for transaction in ended] == list(range(len(ended)))
    counts = Counter(number for number, _ in seen)
    assert {transaction.number: transaction.events for transaction in ended} == counts


@given(streams())
def test_a_transactions_length_is_that_of_its_events_in_the_log(events: list[Event]) -> None:
    ended, seen = watched(events)
    lengths: Counter[int] = Counter()
    for number, event in seen:
        lengths[number] += len(event.frame.data) * (event.inner is None)
    assert [transaction.length for transaction in ended] == [lengths[number] for number in range(len(ended))]


@given(streams())
def test_events_that_do_not_belong_are_never_changes(events: list[Event]) -> None:
    _, seen = watched(events)
    belonging = {id(event) for _, event in seen}
    outside = {event.type for event in events if id(event) not in belonging}
    assert outside <= {"FORMAT_DESCRIPTION", "ROTATE", "STOP", "HEARTBEAT", "UNKNOWN_200"}


@given(streams())
def test_a_watcher_changes_nothing(events: list[Event]) -> None:
    assert list(transactions(events)) == watched(events)[0]


@given(streams(), streams())
def test_a_finished_assembler_starts_over(first: list[Event], second: list[Event]) -> None:
    description = [Tape("binlog.000009").description()]
    assembler = Assembler()
    before = [transaction for event in first for transaction in assembler.feed(event)] + assembler.finish()
    after = [transaction for event in (*description, *second) for transaction in assembler.feed(event)]
    after += assembler.finish()
    alone = list(transactions([*description, *second]))
    assert [transaction.number - len(before) for transaction in after] == [transaction.number for transaction in alone]
    assert [(t.file, t.start, t.ending) for t in after] == [(t.file, t.start, t.ending) for t in alone]


@st.composite
def decodable(draw: st.DrawFn) -> list[Event]:
    """Events of any type whose body is any bytes that decode."""
    tape = Tape()
    template = tape.stop().frame
    events: list[Event] = []
    for code, body in draw(st.lists(st.tuples(st.sampled_from(sorted(KNOWN_CODES)), st.binary(max_size=60)))):
        data = template.data[:19] + body
        frame: Frame = template._replace(type_code=int(code), data=data, body_end=len(data), offset=tape.offset)
        try:
            events.append(decode_event(frame))
        except DecodeError:
            continue
        tape.offset += len(data)
    return events


@given(decodable())
def test_any_decodable_events_can_be_assembled(events: list[Event]) -> None:
    ended, seen = watched(events)
    assert sum(transaction.events for transaction in ended) == len(seen) <= len(events)
