"""Findings of verify: how severe, what, and at which position."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from binspark.position import Position


class Code(StrEnum):
    """The codes of findings. Scripts rely on them: codes are added, never changed."""

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
    CHAIN_BEGINS_LATE = "chain-begins-late"
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


# What a finding means, and what to do about it.
ADVICE: dict[Code, str] = {
    Code.MISSING_FILE: "Copy the file from the server or a backup; without it, transactions are missing.",
    Code.UNREADABLE: "Check the permissions and the storage, then verify again.",
    Code.NOT_A_LOG: "This is not a binary log, or its beginning is lost. Copy the file again.",
    Code.BAD_MAGIC: "The first four bytes are damaged; the rest can be read. Copy the file again.",
    Code.BAD_FORMAT: "The format description of the log is damaged. Copy the file again.",
    Code.ENCRYPTED: "Verify again with the keyring file of the server that wrote the log: --keyring FILE.",
    Code.TRUNCATED: "Copy the file again; or, if the server crashed here, cut the file to the size given.",
    Code.HOLE: "These bytes are not events; the transactions in them are lost. Copy the file again.",
    Code.UNREADABLE_TAIL: "Nothing after this position can be read. Copy the file again, or cut it to this position.",
    Code.CHECKSUM: "The bytes have changed since the server wrote them. Copy the file again.",
    Code.NO_CHECKSUMS: "Damage inside an event cannot be detected. Set binlog_checksum=CRC32 on the server.",
    Code.POSITION: "Bytes were added or removed, or the header is damaged. Copy the file again.",
    Code.DECODE: "The event contradicts its format. If its checksum is correct, please report a bug of binspark.",
    Code.UNSUPPORTED: "binspark cannot decode this event; everything around it was checked.",
    Code.EXTRA_BYTES: "A server of a later version may have added a field; nothing is lost.",
    Code.UNKNOWN_EVENT: "A server of a later version may have written it. A replica that does not know it stops here.",
    Code.UNKNOWN_IGNORABLE_EVENT: "The server marked it as an event that readers may skip; nothing is lost.",
    Code.PAYLOAD: "The compressed transaction cannot be decompressed. Copy the file again.",
    Code.FRAGMENTS: "A fragment of a large rows event is missing. Copy the file again.",
    Code.LOAD_FILE: "Blocks of a LOAD DATA file are in another log, or lost. Verify the logs around this one too.",
    Code.TRANSACTION_LENGTH: "Events were added to or removed from the transaction. Copy the file again.",
    Code.LARGE_TRANSACTION: "Events were added to or removed from the transaction. Copy the file again.",
    Code.UNFINISHED_TRANSACTION: "The end of the transaction was not written, or is lost. Do not apply it.",
    Code.INCIDENT: "The server reports that events are missing from its log. Rebuild its replicas from a new backup.",
    Code.CLOCK_ORDER: "The transactions are not in the order in which the server committed them.",
    Code.CLOCK_GAP: "A transaction may be missing here. Compare with the server's own file.",
    Code.IN_USE: "The server is still writing the file, or crashed. Rotate (FLUSH BINARY LOGS) and copy it again.",
    Code.NO_END: "The server crashed, or the end of the file is lost. Compare its size with the server's own file.",
    Code.AFTER_END: "Bytes were appended to a closed log. Copy the file again.",
    Code.ROTATE_TARGET: "Files were renamed or mixed up, or one between them is missing.",
    Code.ROTATE_POSITION: "A log always begins at position 4. Copy the file again.",
    Code.CHAIN_BEGINS_LATE: "Complete from here on only. If the earlier logs exist, give them too, or the directory.",
    Code.CHAIN_CONTINUES: "Give the next file too, or the directory, to verify the complete chain.",
    Code.FILE_ORDER: "Give the files in the order of their numbers, or give their directory.",
    Code.DUPLICATE_FILE: "Give one of the files only.",
    Code.SERVER_VERSION: "The server was upgraded or replaced between these files.",
    Code.SERVER_ID: "The server_id of the server was changed, or these are files of two servers.",
    Code.GTID_LOST: "These transactions were logged before this file, but no file has them. Find the missing log.",
    Code.GTID_UNEXPECTED: "The later file was begun without these transactions: the files are not of the same server.",
    Code.GTID_DUPLICATE: "The same transaction is in the file twice. Applying it twice would be wrong.",
    Code.GTID_ALREADY_LOGGED: "The same transaction is in an earlier file. Applying it twice would be wrong.",
    Code.GTID_ORDER: "Legal without gtid_strict_mode, but replicas that connect by GTID may skip transactions.",
    Code.GTID_GAP: "Usual on a replica; otherwise transactions may be missing.",
    Code.GTID_MIXED: "Usual while gtid_mode is being switched; otherwise find out which session writes without GTID.",
    Code.GTID_DOMAIN_DELETED: "Usual after FLUSH BINARY LOGS DELETE_DOMAIN_ID; nothing is lost.",
}


DEFAULT_LIMIT = 20


class Severity(StrEnum):
    """How severe a finding is.

    error     something is damaged or missing, or cannot be verified
    warning   something may be damaged or missing
    info      worth knowing
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. Scripts can rely on `code`; `message` may change."""

    severity: Severity
    code: str
    message: str
    position: Position


class Findings:
    """Collects the findings about one file: all are counted, and the first `limit` of each code are kept."""

    def __init__(self, file: str, limit: int = DEFAULT_LIMIT) -> None:
        self.file = file
        self.kept: list[Finding] = []
        self.by_severity: Counter[Severity] = Counter()
        self.by_code: Counter[Code] = Counter()
        self._limit = limit

    def error(self, code: Code, message: str, offset: int | None = None, event: str | None = None) -> None:
        """Add a finding that something is damaged, missing or unverifiable."""
        self.add(Severity.ERROR, code, message, offset, event)

    def warning(self, code: Code, message: str, offset: int | None = None, event: str | None = None) -> None:
        """Add a finding that something may be damaged or missing."""
        self.add(Severity.WARNING, code, message, offset, event)

    def info(self, code: Code, message: str, offset: int | None = None, event: str | None = None) -> None:
        """Add a finding that is only worth knowing."""
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
        """Return how many findings were not kept, for each code with more than the limit."""
        return tuple((code.value, count - self._limit) for code, count in self.by_code.items() if count > self._limit)
