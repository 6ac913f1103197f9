"""Fuzz the decoders: any bytes are either parsed or refused with a BinlogError, never anything else.

    python fuzz/decode.py [SECONDS] [libFuzzer options]

Requires `pip install atheris`. It starts with the recorded logs of tests/corpus. New inputs are kept in fuzz/found, and
so are inputs that break the rule (`python fuzz/decode.py 0 fuzz/found/crash-…` repeats one). The first byte of an input
selects how the rest is read: as a complete log, or as the body of one event.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["binspark"]):
    from binspark.errors import BinlogError
    from binspark.event import TransactionPayload, decode_body, decode_event, inner_events
    from binspark.frames import ChecksumAlgorithm, Frame, Framer
    from binspark.frames.payload import Limits
    from binspark.testing.builder import MARIADB_10_11, MYSQL_4_1, MYSQL_5_5, MYSQL_9_7, HeaderFields, event_bytes
    from binspark.wire import RecordingCursor

ROOT = Path(__file__).parent
CORPUS = ROOT.parent / "tests" / "corpus"
FOUND = ROOT / "found"
LIMITS = Limits(payload_bytes=1 << 22, event_bytes=1 << 22)
FORMATS = [kind.log_format(ChecksumAlgorithm.NONE) for kind in (MYSQL_9_7, MARIADB_10_11, MYSQL_5_5, MYSQL_4_1)]
MAX_SEED_BYTES = 1 << 14
COMPLETE_LOG = 0


def read_log(log: bytes) -> None:
    """Read a complete log, with wrong checksums reported instead of refused, so that damage reaches the decoders."""
    framer = Framer(report_checksums=True)
    for frame in framer.feed(log):
        event = decode_event(frame, "fuzzed", LIMITS)
        if type(event.body) is TransactionPayload:
            for _ in inner_events(event, LIMITS):
                pass
    framer.finish()


def read_body(how: int, body: bytes) -> None:
    """Read the body of one event with both cursors, which must agree."""
    log_format = FORMATS[len(body) % len(FORMATS)]
    event = event_bytes(how, body, HeaderFields(0, 1), log_format, offset=4)
    for frame in Framer(log_format, offset=4).feed(event):
        plain = outcome(partial(plain_body, frame))
        cursor = RecordingCursor(frame.data, frame.body_start, frame.body_end, log_format.encoding)
        recorded = outcome(partial(decode_body, cursor, frame, limits=LIMITS))
        if plain != recorded and repr(plain) != repr(recorded):  # not a number is not equal to itself
            raise AssertionError(f"{plain!r} is not {recorded!r}")


def plain_body(frame: Frame) -> object:
    """Decode an event with the cursor that remembers nothing."""
    return decode_event(frame, limits=LIMITS).body


def outcome(decode: Callable[[], object]) -> object:
    """Return what was decoded, or the class of the error."""
    try:
        return decode()
    except BinlogError as error:
        return type(error)


def any_bytes(data: bytes) -> None:
    """Check the rule for any bytes."""
    if not data:
        return
    with suppress(BinlogError):
        read_log(data[1:]) if data[0] == COMPLETE_LOG else read_body(data[0], data[1:])


def write_seeds(folder: Path) -> None:
    """Write the recorded logs, and the body of every event in them, as inputs."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, path in enumerate(sorted(CORPUS.glob("*/*/*.0*[0-9]"))):
        log = path.read_bytes()
        if len(log) <= MAX_SEED_BYTES:
            (folder / f"log-{number}").write_bytes(bytes((COMPLETE_LOG,)) + log)
        write_bodies(log, folder)


def write_bodies(log: bytes, folder: Path) -> None:
    """Write one input for each type and length of event."""
    try:
        for frame in Framer().feed(log):
            if len(frame.data) <= MAX_SEED_BYTES:
                (folder / f"body-{frame.type_code}-{len(frame.data)}").write_bytes(
                    bytes((frame.type_code,)) + frame.body
                )
    except BinlogError:
        return  # an encrypted log


def main() -> None:
    """Run for as many seconds as the first argument says (60)."""
    seconds, *options = sys.argv[1:] or ["60"]
    write_seeds(FOUND)
    own = [f"-max_total_time={seconds}", f"-artifact_prefix={FOUND}/", "-timeout=20", "-rss_limit_mb=2048"]
    inputs = [] if any(not option.startswith("-") for option in options) else [str(FOUND)]
    atheris.Setup([sys.argv[0], *own, *options, *inputs], any_bytes)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
