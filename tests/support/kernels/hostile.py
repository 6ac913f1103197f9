"""Hostile logs through every command that kernels work for, with a limit of processor time for each log.

    python -m tests.support.kernels.hostile FOLDER FIRST LAST

Log number n is the same in each run. Its number is in FOLDER/current while it is read, and FOLDER/hostile.000001 is the
log. A log that takes more than CPU_SECONDS ends the program by SIGPROF, also inside a kernel.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from random import Random
from zlib import crc32

from click.testing import CliRunner

from binspark.cli.main import main
from binspark.errors import DecodeError
from binspark.frames import EventCode, Framer
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import MAGIC
from binspark.kernels import cache
from tests.corpus.cases import corpus_logs

CPU_SECONDS = 20
MAX_BYTES = 40_000
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("events", "--tables", "*.*"),
    ("transactions",),
    ("rows",),
    ("sql", "--undo"),
    ("stat",),
    ("verify",),
    ("dump", "-vv"),
    ("cut", "-o", "{new}"),
    ("cut", "--where", "id > 1", "-o", "{new}"),
    ("export", "-o", "{exported}"),
)
# What decides whether kernels read a log: here they read all.
THRESHOLDS = {
    "binspark.files.windows": ("BULK_BYTES", "COMPILING_BYTES"),
    "binspark.files.bulk_selection": ("BULK_BYTES", "COMPILING_BYTES"),
    "binspark.cut.bulk": ("_BULK_BYTES", "_COMPILING_BYTES"),
    "binspark.dump.mysql.frames": ("MIN_BULK_BYTES",),
    "binspark.dump.mariadb.dumper": ("MIN_BULK_BYTES",),
}
_SIZE, _POSITION = slice(9, 13), slice(13, 17)
_FIXED = (EventCode.FORMAT_DESCRIPTION, EventCode.START_ENCRYPTION)


def hostile_log(number: int) -> bytes:
    """Return a recorded log with some bytes that no server writes, and sizes, positions and checksums that fit."""
    random = Random(number)
    logs = [log for log in corpus_logs() if log.stat().st_size < MAX_BYTES]
    content = random.choice(logs).read_bytes()
    framer = Framer(report_checksums=True)
    try:
        frames = list(framer.feed(content))
    except DecodeError:
        frames = []
    events = [bytearray(frame.data[: frame.body_end]) for frame in frames]
    changed = [event for event, frame in zip(events, frames, strict=True) if frame.type_code not in _FIXED]
    for _ in range(random.randint(1, 6)):
        _change(random, random.choice(changed or events))
    for _ in range(random.randint(0, 2)):
        at = random.randrange(1, len(events) + 1)
        events[at:at] = [bytearray(event) for event in random.choices(events[1:] or events, k=random.randint(1, 3))]
    checksum = bool(framer.format and framer.format.checksum_length)
    return rebuilt(events, checksum=checksum)


def _change(random: Random, event: bytearray) -> None:
    """Overwrite a field of an event: numbers at the ends of their range, or anything."""
    width = random.choice((1, 2, 4, 8))
    start = random.choice((HEADER_LENGTH, random.randrange(HEADER_LENGTH, max(len(event), HEADER_LENGTH + 1))))
    value = random.choice((bytes(width), b"\xff" * width, b"\x7f" * width, b"\x80" * width, random.randbytes(width)))
    room = max(0, min(width, len(event) - start))
    event[start : start + room] = value[:room]


def rebuilt(events: list[bytearray], *, checksum: bool) -> bytes:
    """Return a log of events, which are without checksums."""
    log = bytearray(MAGIC)
    for event in events:
        size = len(event) + 4 * checksum
        event[_SIZE] = size.to_bytes(4, "little")
        event[_POSITION] = (len(log) + size).to_bytes(4, "little")
        log += event
        log += crc32(event).to_bytes(4, "little") if checksum else b""
    return bytes(log)


def read_everywhere(log: Path, folder: Path) -> None:
    """Let all commands read a log. It may be refused, by an error of ours."""
    for command in COMMANDS:
        new, exported = folder / "new", folder / "exported"
        words = [word.format(new=new, exported=exported) for word in command]
        result = CliRunner().invoke(main, [*words, str(log)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        new.unlink(missing_ok=True)


def run(folder: Path, first: int, last: int) -> None:
    """Read the hostile logs of these numbers."""
    cache.enable()
    for module, names in THRESHOLDS.items():
        for name in names:
            setattr(import_module(module), name, 0)
    log = folder / "hostile.000001"
    for family in ("mysql", "mariadb"):  # kernels are compiled without a limit
        read_everywhere(next(log for log in corpus_logs(family) if log.parent.name == "types"), folder)
    for number in range(first, last):
        (folder / "current").write_text(str(number))
        log.write_bytes(hostile_log(number))
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        read_everywhere(log, folder)
        signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
