"""Where a log that is being written ends for now: behind its last whole transaction."""

from __future__ import annotations

from binspark.columns.starts import LogBytes
from binspark.errors import DecodeError
from binspark.event import EventDecoder
from binspark.files.log_head import LogHead
from binspark.files.storage.file import LogFile
from binspark.frames import Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.transactions import Assembler

_FIRST_LOOK = 1 << 20
_CHUNK = 1 << 18


def whole_end(file: LogFile, size: int, head: LogHead, name: str, begin: int = FIRST_EVENT_OFFSET) -> int:
    """Return the offset behind the last transaction that is whole, of the first `size` bytes of a log.

    `begin` is where an event begins, outside any transaction, from which on is looked. Bytes that are no events are no
    reason to end earlier: they are damage, which whoever reads them reports.
    """
    log = LogBytes(file.read_at, size, head.format)
    look = _FIRST_LOOK
    start: int | None = None
    while start is None and look < size - begin and head.can_split:
        start = log.find_start(max(begin, size - look))
        look *= 4
    return _whole_end(file, begin if start is None else start, size, head, name)


def _whole_end(file: LogFile, start: int, size: int, head: LogHead, name: str) -> int:
    framer, decoder, assembler = Framer(head.format, start), EventDecoder(name), Assembler()
    whole = start
    try:
        for offset in range(start, size, _CHUNK):
            for frame in framer.feed(file.read_at(offset, min(_CHUNK, size - offset))):
                assembler.feed(decoder.decode(frame))
                if not assembler.is_open:
                    whole = frame.end_offset
    except DecodeError:
        return size
    return whole
