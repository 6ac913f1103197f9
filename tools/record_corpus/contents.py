"""What is in a recorded log: its server's version and its events, counted by walking the headers."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

MAGIC = b"\xfebin"
HEADER = struct.Struct("<IBIIIH")
VERSION_OFFSET = len(MAGIC) + HEADER.size + 2

EVENT_NAMES = {
    2: "QUERY", 3: "STOP", 4: "ROTATE", 5: "INTVAR", 9: "APPEND_BLOCK", 11: "DELETE_FILE", 13: "RAND", 14: "USER_VAR",
    15: "FORMAT_DESCRIPTION", 16: "XID", 17: "BEGIN_LOAD_QUERY", 18: "EXECUTE_LOAD_QUERY", 19: "TABLE_MAP",
    23: "WRITE_ROWS_V1", 24: "UPDATE_ROWS_V1", 25: "DELETE_ROWS_V1", 26: "INCIDENT", 27: "HEARTBEAT", 28: "IGNORABLE",
    29: "ROWS_QUERY", 30: "WRITE_ROWS", 31: "UPDATE_ROWS", 32: "DELETE_ROWS", 33: "GTID", 34: "ANONYMOUS_GTID",
    35: "PREVIOUS_GTIDS", 36: "TRANSACTION_CONTEXT", 37: "VIEW_CHANGE", 38: "XA_PREPARE", 39: "PARTIAL_UPDATE_ROWS",
    40: "TRANSACTION_PAYLOAD", 41: "HEARTBEAT_V2", 42: "GTID_TAGGED", 160: "ANNOTATE_ROWS", 161: "BINLOG_CHECKPOINT",
    162: "MARIADB_GTID", 163: "GTID_LIST", 164: "START_ENCRYPTION", 165: "QUERY_COMPRESSED",
    166: "WRITE_ROWS_COMPRESSED_V1", 167: "UPDATE_ROWS_COMPRESSED_V1", 168: "DELETE_ROWS_COMPRESSED_V1",
    169: "WRITE_ROWS_COMPRESSED", 170: "UPDATE_ROWS_COMPRESSED", 171: "DELETE_ROWS_COMPRESSED",
}  # fmt: skip


def is_log(path: Path) -> bool:
    """Say whether a file of the corpus is a log, and not a witness, an index or a key."""
    return path.is_file() and path.suffix[1:].isdigit()


def server_version(log: Path) -> str:
    """Read the version from the FORMAT_DESCRIPTION event; empty for an encrypted file."""
    content = log.read_bytes()
    if not content.startswith(MAGIC):
        return ""
    return content[VERSION_OFFSET : VERSION_OFFSET + 50].rstrip(b"\0").decode()


def count_events(log: Path) -> Counter[str]:
    """Count events by name, as far as headers can be followed: START_ENCRYPTION ends the walk."""
    content = log.read_bytes()
    counts: Counter[str] = Counter()
    offset = len(MAGIC) if content.startswith(MAGIC) else len(content)
    while offset + HEADER.size <= len(content):
        _, code, _, size, _, _ = HEADER.unpack_from(content, offset)
        name = EVENT_NAMES.get(code, f"type {code}")
        counts[name] += 1
        if name == "START_ENCRYPTION" or size < HEADER.size:
            break
        offset += size
    return counts
