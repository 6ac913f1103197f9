"""What verify finds: values that say how grave it is, what it is, and where."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from binspark.position import Position


class Code(StrEnum):
    """The names of findings. Scripts rely on them: they are added to, never changed."""

    # the file
    MISSING_FILE = "missing-file"
    UNREADABLE = "unreadable"
    NOT_A_LOG = "not-a-log"
    BAD_MAGIC = "bad-magic"
    BAD_FORMAT = "bad-format"
    ENCRYPTED = "encrypted"
    TRUNCATED = "truncated"
    HOLE = "hole"
    UNREADABLE_TAIL = "unreadable-tail"
    # the events
    CHECKSUM = "checksum"
    NO_CHECKSUMS = "no-checksums"
    POSITION = "position"
    DECODE = "decode"
    UNSUPPORTED = "unsupported"
    EXTRA_BYTES = "extra-bytes"
    UNKNOWN_EVENT = "unknown-event"
    UNKNOWN_IGNORABLE_EVENT = "unknown-ignorable-event"
    PAYLOAD = "payload"
    FRAGMENTS = "fragments"
    LOAD_FILE = "load-file"
    # the transactions
    TRANSACTION_LENGTH = "transaction-length"
    LARGE_TRANSACTION = "large-transaction"
    UNFINISHED_TRANSACTION = "unfinished-transaction"
    INCIDENT = "incident"
    CLOCK_ORDER = "clock-order"
    CLOCK_GAP = "clock-gap"
    # the end of a file, and the chain of files
    IN_USE = "in-use"
    NO_END = "no-end"
    AFTER_END = "after-end"
    ROTATE_TARGET = "rotate-target"
    ROTATE_POSITION = "rotate-position"
    CHAIN_CONTINUES = "chain-continues"
    FILE_ORDER = "file-order"
    DUPLICATE_FILE = "duplicate-file"
    SERVER_VERSION = "server-version"
    SERVER_ID = "server-id"
    # GTIDs
    GTID_LOST = "gtid-lost"
    GTID_UNEXPECTED = "gtid-unexpected"
    GTID_DUPLICATE = "gtid-duplicate"
    GTID_ALREADY_LOGGED = "gtid-already-logged"
    GTID_ORDER = "gtid-order"
    GTID_GAP = "gtid-gap"
    GTID_MIXED = "gtid-mixed"
    GTID_DOMAIN_DELETED = "gtid-domain-deleted"


ADVICE: dict[Code, str] = {
    Code.MISSING_FILE: "Copy the file again from the server or a backup; without it, transactions are missing.",
    Code.UNREADABLE: "Check the permissions and the disk, then verify again.",
    Code.NOT_A_LOG: "This is not a binary log, or its beginning is lost. Copy it again.",
    Code.BAD_MAGIC: "The first four bytes are damaged, what follows could be read. Copy the file again.",
    Code.BAD_FORMAT: "The log's description of itself is damaged. Copy the file again.",
    Code.ENCRYPTED: "Let the server that has the keys send it in clear: mysqlbinlog --read-from-remote-server --raw.",
    Code.TRUNCATED: "Copy the file again; or, if the server crashed here, cut it to the sound bytes.",
    Code.HOLE: "These bytes are no events; the transactions in them are lost. Copy the file again.",
    Code.UNREADABLE_TAIL: "Nothing could be read from here on. Copy the file again, or cut it to the sound bytes.",
    Code.CHECKSUM: "These bytes are not those that the server wrote. Copy the file again.",
    Code.NO_CHECKSUMS: "Damage inside an event cannot be seen. Set binlog_checksum=CRC32 on the server.",
    Code.POSITION: "Bytes were added or removed, or the header is damaged. Copy the file again.",
    Code.DECODE: "The event contradicts its format. If its checksum holds, please report it to binspark.",
    Code.UNSUPPORTED: "binspark cannot look into this event; everything around it was checked.",
    Code.EXTRA_BYTES: "A server of a later version may have added a field; nothing is lost.",
    Code.UNKNOWN_EVENT: "A server of a later version may have written it. A replica that does not know it stops here.",
    Code.UNKNOWN_IGNORABLE_EVENT: "Its writer marked it as one that may be skipped; nothing is lost.",
    Code.PAYLOAD: "The compressed transaction cannot be expanded. Copy the file again.",
    Code.FRAGMENTS: "A part of a large rows event is missing. Copy the file again.",
    Code.LOAD_FILE: "Blocks of a LOAD DATA file stand in another log or are lost; look at the log before and after.",
    Code.TRANSACTION_LENGTH: "Events were added to or removed from the transaction. Copy the file again.",
    Code.LARGE_TRANSACTION: "Events were added to or removed from the transaction. Copy the file again.",
    Code.UNFINISHED_TRANSACTION: "The end of the transaction was never written, or is lost. Readers must not apply it.",
    Code.INCIDENT: "The server itself says that events are lost. Rebuild its replicas from a fresh copy of the data.",
    Code.CLOCK_ORDER: "The transactions are not in the order in which the server committed them.",
    Code.CLOCK_GAP: "A transaction may be missing here. Compare with the server's own file.",
    Code.IN_USE: "The server still writes the file, or it crashed. Rotate (FLUSH BINARY LOGS) and copy it again.",
    Code.NO_END: "Neither ROTATE nor STOP ends the file: the server crashed, or the end of the file is lost.",
    Code.AFTER_END: "Something was appended to a finished log. Copy the file again.",
    Code.ROTATE_TARGET: "Files were renamed or mixed up, or one between them is missing.",
    Code.ROTATE_POSITION: "The rotation names a place that no file begins at. Copy the file again.",
    Code.CHAIN_CONTINUES: "Name the next file too, or a directory, to verify the whole chain.",
    Code.FILE_ORDER: "Name the files in the order of their numbers, or name their directory.",
    Code.DUPLICATE_FILE: "Name each file once.",
    Code.SERVER_VERSION: "The server was upgraded or replaced between these files.",
    Code.SERVER_ID: "The server was given another id, or these are files of two servers.",
    Code.GTID_LOST: "These transactions were logged before this file, but are not there. Find the missing log.",
    Code.GTID_UNEXPECTED: "The later file does not know these transactions: the files do not belong together.",
    Code.GTID_DUPLICATE: "The same transaction is in the file twice. Applying it twice would be wrong.",
    Code.GTID_ALREADY_LOGGED: "The same transaction is in an earlier file. Applying it twice would be wrong.",
    Code.GTID_ORDER: "Legal without gtid_strict_mode, but replicas that connect by GTID may skip transactions.",
    Code.GTID_GAP: "Usual on a replica; on a server that others do not write to, transactions may be missing.",
    Code.GTID_MIXED: "Usual while gtid_mode is being switched; otherwise find out which session writes without GTID.",
    Code.GTID_DOMAIN_DELETED: "Usual after FLUSH BINARY LOGS DELETE_DOMAIN_ID; nothing is lost.",
}


DEFAULT_LIMIT = 20


class Severity(StrEnum):
    """How grave a finding is: the log is not whole, it may not be, or it is only worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found. `code` is a name that scripts may rely on."""

    severity: Severity
    code: str
    message: str
    position: Position


class Findings:
    """Collects the findings of one file; of each code only the first few are kept, all are counted."""

    def __init__(self, file: str, limit: int = DEFAULT_LIMIT) -> None:
        self.file = file
        self.kept: list[Finding] = []
        self.by_severity: Counter[Severity] = Counter()
        self.by_code: Counter[Code] = Counter()
        self._limit = limit

    def error(self, code: Code, message: str, offset: int | None = None, event: str | None = None) -> None:
        """Add what shows that the log is not whole."""
        self.add(Severity.ERROR, code, message, offset, event)

    def warning(self, code: Code, message: str, offset: int | None = None, event: str | None = None) -> None:
        """Add what may show that the log is not whole."""
        self.add(Severity.WARNING, code, message, offset, event)

    def info(self, code: Code, message: str, offset: int | None = None, event: str | None = None) -> None:
        """Add what is worth knowing."""
        self.add(Severity.INFO, code, message, offset, event)

    def add(
        self, severity: Severity, code: Code, message: str, offset: int | None = None, event: str | None = None
    ) -> None:
        """Add a finding of any severity."""
        self.by_severity[severity] += 1
        self.by_code[code] += 1
        if self.by_code[code] <= self._limit:
            self.kept.append(Finding(severity, code.value, message, Position(self.file, offset, event)))

    def omitted(self) -> tuple[tuple[str, int], ...]:
        """Return, for each code that was found too often, how many findings are not kept."""
        return tuple((code.value, count - self._limit) for code, count in self.by_code.items() if count > self._limit)
