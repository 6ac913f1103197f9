"""The contents of a recorded log: the version of its server, and its events, counted by their headers."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

from binspark.frames import MAGIC, type_name

HEADER = struct.Struct("<IBIIIH")
VERSION_OFFSET = len(MAGIC) + HEADER.size + 2


def is_log(path: Path) -> bool:
    """Return whether a file of the corpus is a log, not the output of mysqlbinlog, an index or a key."""
    return path.is_file() and path.suffix[1:].isdigit()


def server_version(log: Path) -> str:
    """Return the version in the FORMAT_DESCRIPTION event, empty for an encrypted file."""
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
        name = type_name(code)
        counts[name] += 1
        if name == "START_ENCRYPTION" or size < HEADER.size:
            break
        offset += size
    return counts
