"""Where an active log ends for now: after its last complete transaction."""

from __future__ import annotations

from binspark.columns.starts import LogBytes
from binspark.errors import DecodeError
from binspark.event import EventDecoder
from binspark.files.log_head import LogHead
from binspark.files.storage.store import LogFile
from binspark.frames import Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.transactions import Assembler

_FIRST_SEARCH = 1 << 20
_CHUNK = 1 << 18


def complete_end(file: LogFile, size: int, head: LogHead, name: str, start: int = FIRST_EVENT_OFFSET) -> int:
    """Return the offset after the last complete transaction in the first `size` bytes of a log.

    `start` is the offset of an event outside of any transaction; nothing before it is read. Bytes that are not events
    do not end the log earlier: they are damage, which is reported when the log is read.
    """
    # Reading everything is not needed: a transaction that begins near the end is as good a start as the first one.
    log = LogBytes(file.read_at, size, head.format)
    search = _FIRST_SEARCH
    found: int | None = None
    while found is None and search < size - start and head.can_split:
        found = log.find_start(max(start, size - search))
        search *= 4
    return _end_of_transactions(file, start if found is None else found, size, head, name)


def _end_of_transactions(file: LogFile, start: int, size: int, head: LogHead, name: str) -> int:
    framer, decoder, assembler = Framer(head.format, start), EventDecoder(name), Assembler()
    complete = start
    try:
        for offset in range(start, size, _CHUNK):
            for frame in framer.feed(file.read_at(offset, min(_CHUNK, size - offset))):
                assembler.feed(decoder.decode(frame))
                if not assembler.is_open:
                    complete = frame.end_offset
    except DecodeError:
        return size
    return complete
