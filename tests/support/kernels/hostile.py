"""Hostile input for every kernel that Python calls, with a limit of processor time for each.

    python -m tests.support.kernels.hostile FOLDER KIND FIRST LAST SECONDS

KIND is one of `KINDS`: who reads it. Input number n is the same in each run. While it is read, FOLDER/current has its
kind and number, FOLDER/hostile.000001 is the log that it was made of, and the last line of FOLDER/doors names the
kernel that was called last. Input that takes more than SECONDS ends the program by SIGPROF, also inside a kernel.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TextIO
from zlib import crc32

import numpy as np
from click.testing import CliRunner

from binspark.cli.main import main
from binspark.frames import EventCode, Framer
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import MAGIC
from binspark.kernels import cache
from binspark.kernels.compiler import Entry, Kernel, kernel
from tests.corpus.cases import case_logs, corpus_logs
from tests.support.kernels import hostile_readers as readers
from tests.support.kernels.hostile_readers import Change, Reader

MAX_BYTES = 40_000
VALID_CASES = (
    "mysql/types",
    "mysql/types-compressed",
    "mariadb/types",
    "mariadb/types-compressed",
    "mariadb/metadata-none",
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("events", "--tables", "*.*"),
    ("transactions",),
    ("rows",),
    ("rows", "--format", "jsonl"),
    ("sql",),
    ("sql", "--undo", "--skip-statements", "--on-conflict", "overwrite"),
    ("stat",),
    ("verify",),
    ("dump", "-vv"),
    ("cut", "-o", "{new}"),
    ("cut", "--where", "id > 1", "-o", "{new}"),
    ("export", "--overwrite", "-o", "{exported}"),
)
# What decides whether kernels read a log: here they read all.
THRESHOLDS = {
    "binspark.files.windows": ("BULK_BYTES", "COMPILING_BYTES"),
    "binspark.files.bulk_selection": ("BULK_BYTES", "COMPILING_BYTES"),
    "binspark.cut.bulk": ("_BULK_BYTES", "_COMPILING_BYTES"),
    "binspark.verify.file_check": ("_BULK_BYTES", "_COMPILING_BYTES"),
    "binspark.dump.mysql.frames": ("MIN_BULK_BYTES",),
    "binspark.dump.mariadb.dumper": ("MIN_BULK_BYTES",),
}
_SIZE, _POSITION = slice(9, 13), slice(13, 17)
_FIXED = (EventCode.FORMAT_DESCRIPTION, EventCode.START_ENCRYPTION)


def hostile_log(random: Random) -> bytes:
    """Return a recorded log with some bytes that no server writes, and sizes, positions and checksums that fit."""
    logs = [log for log in corpus_logs() if log.stat().st_size < MAX_BYTES]
    content = random.choice(logs).read_bytes()
    first, *frames = Framer(report_checksums=True).feed(content)
    events = [(bytearray(frame.data[: frame.body_end]), len(frame.data) - frame.body_end) for frame in frames]
    changed = [event for (event, _), frame in zip(events, frames, strict=True) if frame.type_code not in _FIXED]
    for _ in range(random.randint(1, 6)):
        _change(random, random.choice(changed))
    for _ in range(random.randint(0, 2)):
        at, repeated = random.randrange(len(events) + 1), random.choices(events, k=random.randint(1, 3))
        events[at:at] = [(bytearray(event), checksum_length) for event, checksum_length in repeated]
    return rebuilt(MAGIC + first.data, events)


def _change(random: Random, event: bytearray) -> None:
    """Overwrite a field of an event: numbers at the ends of their range, or anything."""
    start = random.choice((HEADER_LENGTH, random.randrange(HEADER_LENGTH, max(len(event), HEADER_LENGTH + 1))))
    readers.overwrite(random, event, start)


def rebuilt(head: bytes, events: list[tuple[bytearray, int]]) -> bytes:
    """Return a log of its head, and of events without checksums, each with the length of its checksum."""
    log = bytearray(head)
    for event, checksum_length in events:
        size = len(event) + checksum_length
        event[_SIZE] = size.to_bytes(4, "little")
        event[_POSITION] = (len(log) + size).to_bytes(4, "little")
        log += event
        log += crc32(event).to_bytes(4, "little")[:checksum_length]
    return bytes(log)


def read_by_commands(log: Path, _change: Change) -> None:
    """Let all commands read a log."""
    new, exported = log.parent / "new", log.parent / "exported"
    for command in COMMANDS:
        words = [word.format(new=new, exported=exported) for word in command]
        result = CliRunner().invoke(main, [*words, str(log)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        new.unlink(missing_ok=True)


@kernel
def spin(numbers: np.ndarray) -> None:
    """Never return, unless the number is 0."""
    while numbers[0] != 0:
        numbers[0] ^= 2


def call_endless_kernel(_log: Path, change: Change) -> None:
    """Call a kernel that ends for valid input alone."""
    spin(np.frombuffer(change(bytes(8)), dtype=np.int64).copy())


KINDS: dict[str, Reader] = {
    "commands": read_by_commands,
    "archive": readers.read_archive,
    "packets": readers.read_packets,
    "results": readers.read_results,
    "documents": readers.read_documents,
    "endless": call_endless_kernel,
}
"""Each lets kernels read a log, or other bytes that it makes of it. They may refuse it, by an error of ours."""


def note_doors(doors: TextIO) -> None:
    """Write the name of each kernel to a file before it is called, unless it was the last one, too."""
    find, last = Kernel.entry, [""]

    def entry(self: Kernel, form: tuple[str, ...]) -> Entry:
        if self.name != last[0]:
            last[0] = self.name
            doors.write(f"{self.name}\n")
            doors.flush()
        return find(self, form)

    Kernel.entry = entry  # type: ignore[method-assign]


def run(folder: Path, kind: str, numbers: range, seconds: float) -> None:
    """Let kernels read the hostile input of these numbers."""
    if kind == "endless":
        cache.disable()  # its kernel is not one of binspark's: nothing would notice that it was changed
    else:
        cache.enable()
    for module, names in THRESHOLDS.items():
        for name in names:
            setattr(import_module(module), name, 0)
    read, log = KINDS[kind], folder / "hostile.000001"
    with (folder / "doors").open("w") as doors:
        note_doors(doors)
        for case in VALID_CASES:  # kernels are compiled without a limit
            log.write_bytes(case_logs(case)[0].read_bytes())
            read(log, bytes)
        for number in numbers:
            random = Random(number)
            (folder / "current").write_text(f"{kind} {number}")
            log.write_bytes(hostile_log(random))
            signal.setitimer(signal.ITIMER_PROF, seconds)
            read(log, partial(readers.damaged, random))
            signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    first, last = map(int, sys.argv[3:5])
    run(Path(sys.argv[1]), sys.argv[2], range(first, last), float(sys.argv[5]))
