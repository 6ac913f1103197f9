"""Things that are spread over several events: rows events in fragments, and the files of LOAD DATA."""

from __future__ import annotations

from binspark.event import Event, PartialRowData
from binspark.frames import EventCode as E
from binspark.verify.check import Check, Handler, LogKind, route
from binspark.verify.codes import Code
from binspark.verify.finding import Findings


class Fragments(Check):
    """MariaDB's PARTIAL_ROW_DATA: fragments 1 to n follow each other, with nothing between them."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self._last: Event | None = None
        self._may_miss = False

    def handlers(self) -> dict[int, Handler]:
        return {**route(self._other, *E), **route(self._fragment, E.PARTIAL_ROW_DATA)}

    def damaged(self) -> None:
        self._last = None
        self._may_miss = True

    def finish(self) -> None:
        self._expect(None)

    def _other(self, _event: Event) -> None:
        if self._last is not None:
            self._expect(None)

    def _fragment(self, event: Event) -> None:
        if not self._may_miss:
            self._expect(event)
        self._may_miss = False
        body: PartialRowData = event.body
        self._last = None if body.sequence_number >= body.total_fragments else event

    def _expect(self, event: Event | None) -> None:
        """Compare the next fragment, or that there is none, with what the last one asks for."""
        last, self._last = self._last, None
        wanted = (last.body.total_fragments, last.body.sequence_number + 1) if last else None
        found = (event.body.total_fragments, event.body.sequence_number) if event else None
        if found == wanted or (wanted is None and found is not None and found[1] == 1):
            return
        place = event or last
        assert place is not None
        message = f"expected {_name(wanted)} of a rows event, found {_name(found)}"
        self.findings.error(Code.FRAGMENTS, message, place.offset, place.type)


def _name(fragment: tuple[int, int] | None) -> str:
    return f"fragment {fragment[1]} of {fragment[0]}" if fragment else "no fragment"


class LoadFiles(Check):
    """The files of LOAD DATA: a first block, more blocks, and then the statement that loads or forgets the file.

    Old servers wrote them outside of transactions, so that a rotation could come between: the rest may stand in the
    file before or after.
    """

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self._begun: dict[int, tuple[int, str]] = {}
        self._may_miss = False

    def handlers(self) -> dict[int, Handler]:
        return {
            **route(self._begin, E.BEGIN_LOAD_QUERY, E.CREATE_FILE),
            **route(self._append, E.APPEND_BLOCK),
            **route(self._end, E.EXECUTE_LOAD_QUERY, E.EXEC_LOAD, E.DELETE_FILE),
        }

    def damaged(self) -> None:
        self._may_miss = True

    def finish(self) -> None:
        for file_id, (offset, event_type) in self._begun.items():
            message = f"file {file_id} of LOAD DATA begins here, and is neither loaded nor deleted in this log"
            self.findings.warning(Code.LOAD_FILE, message, offset, event_type)

    def _begin(self, event: Event) -> None:
        self._begun[event.body.file_id] = (event.offset, event.type)

    def _append(self, event: Event) -> None:
        if event.body.file_id not in self._begun and not self._may_miss:
            self._report_unknown(event)

    def _end(self, event: Event) -> None:
        if self._begun.pop(event.body.file_id, None) is None and not self._may_miss:
            self._report_unknown(event)

    def _report_unknown(self, event: Event) -> None:
        message = f"file {event.body.file_id} of LOAD DATA does not begin in this log"
        self.findings.warning(Code.LOAD_FILE, message, event.offset, event.type)
