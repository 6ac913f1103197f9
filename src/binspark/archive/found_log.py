"""What is on disk of a log whose copy was interrupted: found by reading it, whatever anybody wrote down beside it."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path

from binspark.archive.disk import disk_errors
from binspark.archive.names import checked_name, next_name
from binspark.errors import DecodeError, Truncated
from binspark.event import EventDecoder
from binspark.files.log_head import LogHead, read_head
from binspark.files.storage.file import LocalFile, LogFile
from binspark.frames import EventCode, Family, Framer
from binspark.position import Position

_ENDS = frozenset({EventCode.ROTATE, EventCode.STOP})


@dataclass(frozen=True, slots=True)
class FoundLog:
    """A log as far as it is sound.

    size       how many bytes the file has
    end        the offset behind the last event that is whole and sound
    last       the offset of that event, and
    last_type  its type
    created    when the server made the log, in seconds since 1970
    following  the name of the log behind it, if the log says that it is finished
    """

    path: Path
    size: int
    end: int
    last: int
    last_type: int
    created: int
    family: Family
    following: str | None

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def is_ended(self) -> bool:
        """Whether the server has finished the log in order."""
        return self.last_type in _ENDS


def look_at(path: Path) -> FoundLog | None:
    """Read a log through to the first byte that is wrong or missing; None if not even its first event is there."""
    with disk_errors(path), LogFile(LocalFile(str(path))) as file:
        try:
            head = read_head(file, path.name)
        except Truncated:
            return None
        last, end = _sound_part(file, head)
        last_type, following = _last_event(file, head, last, end, path.name)
        size, created = file.size, head.frame.header.timestamp
    return FoundLog(path, size, end, last, last_type, created, head.format.family, following)


def _sound_part(file: LogFile, head: LogHead) -> tuple[int, int]:
    """Return where the last sound event begins and ends. Whoever begins a new archive needs no kernel for it."""
    import numpy as np

    from binspark.columns.crc import crc32_address
    from binspark.columns.kernels.sound import walk_sound

    with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        content = np.frombuffer(mapped, dtype=np.uint8)
        base = int(content.ctypes.data)
        found = np.array([base + head.frame.offset, base + head.frame.end_offset], dtype=np.int64)
        checksum = bool(head.format.checksum_length)
        walk_sound(found, base + len(content), -base, checksum, crc32_address() if checksum else 0)
        last, end = (int(address) - base for address in found)
        del content
    return last, end


def _last_event(file: LogFile, head: LogHead, last: int, end: int, name: str) -> tuple[int, str | None]:
    """Return the type of the last event, and which log it says to go on with."""
    if last == head.frame.offset:
        return head.frame.type_code, None
    frame = next(Framer(head.format, last).feed(file.read_at(last, end - last)))
    if frame.type_code == EventCode.STOP:
        return frame.type_code, next_name(name)
    if frame.type_code != EventCode.ROTATE:
        return frame.type_code, None
    try:
        return frame.type_code, checked_name(EventDecoder(name).decode(frame).body.next_file)
    except DecodeError as error:
        raise error.at(Position(name, last)) from None
