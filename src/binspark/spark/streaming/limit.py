"""How much one batch of a stream takes."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.columns.starts import LogBytes
from binspark.files.header_scan import open_scanner
from binspark.files.sources import LogSource
from binspark.files.splits import PlannedLog


@dataclass(slots=True)
class Limit:
    """What is left of a batch; None for no limit. A transaction is never cut, so one may be larger than a batch."""

    bytes: int | None = None
    transactions: int | None = None

    @property
    def used_up(self) -> bool:
        """Whether no further transaction fits."""
        return any(left is not None and left <= 0 for left in (self.bytes, self.transactions))

    def allows(self, size: int, count: int) -> bool:
        """Return whether this number of bytes and transactions fits."""
        return (self.bytes is None or size <= self.bytes) and (self.transactions is None or count <= self.transactions)

    def take(self, source: LogSource, begin: int, end: int) -> int:
        """Take from a log as much as is left; return where that ends: where a transaction begins, or at `end`."""
        if begin >= end or (self.bytes is None and self.transactions is None):
            return end
        stop = end
        with open_scanner(PlannedLog(source, end, 0)) as scanner:
            log = LogBytes(scanner.file.read_at, end, scanner.head.format)
            if self.bytes is not None and end - begin > self.bytes:
                stop = log.find_start(max(begin + 1, begin + self.bytes)) or end
            if self.transactions is not None:
                stop = self._take_transactions(log, begin, stop)
        if self.bytes is not None:
            self.bytes -= stop - begin
        return stop

    def _take_transactions(self, log: LogBytes, begin: int, stop: int) -> int:
        assert self.transactions is not None
        begins: int | None = log.find_start(begin, stop)
        while begins is not None and self.transactions > 0:
            self.transactions -= 1
            begins = log.find_start(begins + 1, stop)
        return stop if begins is None else begins


def transaction_after(planned: PlannedLog, offset: int) -> int:
    """Return where the first transaction begins at an offset or after it; the end of the log if none does."""
    with open_scanner(planned) as scanner:
        log = LogBytes(scanner.file.read_at, planned.size, scanner.head.format)
        found = log.find_start(offset) if offset < planned.size else None
    return planned.size if found is None else found
