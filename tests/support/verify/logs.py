"""Logs for the tests of verify: built ones, recorded ones, and ways to damage both."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from binspark.files import LogSource, read_frames
from binspark.frames import Frame, HeaderFlag
from binspark.frames.checksum import checksum_of
from binspark.testing.builder import MARIADB_10_11, MYSQL_9_7, BinlogBuilder, ServerKind, insert, integer, table
from binspark.verify import Report, Severity, verify_logs
from tests.corpus.cases import CORPUS

ITEMS = table("shop.items", integer("id"))


def chain(server: ServerKind = MYSQL_9_7, files: int = 3) -> BinlogBuilder:
    """Build an intact chain: two transactions in each file, a rotation after each file, STOP at the end."""
    log = BinlogBuilder(server)
    for number in range(files):
        log.transaction(insert(ITEMS, (2 * number,)))
        log.transaction(insert(ITEMS, (2 * number + 1,)))
        if number < files - 1:
            log.rotate()
    log.stop()
    return log


def mariadb_chain(files: int = 3) -> BinlogBuilder:
    return chain(MARIADB_10_11, files)


def verify_built(log: BinlogBuilder, folder: Path) -> Report:
    """Write the files of a builder and verify them."""
    return verify_logs(log.save(folder))


def copy_case(case: str, folder: Path) -> Path:
    """Copy a recorded case, so that it can be damaged."""
    copied = folder / case.replace("/", "-")
    shutil.copytree(CORPUS / case, copied)
    return copied


def frames_of(path: Path) -> list[Frame]:
    return list(read_frames(LogSource(str(path))))


def frame_of(path: Path, type_code: int, number: int = 0) -> Frame:
    """Return the frame of an event of a type: the first one, or the one with a number."""
    return [frame for frame in frames_of(path) if frame.type_code == type_code][number]


def edit(path: Path, change: Callable[[bytearray], None]) -> None:
    """Change the bytes of a file in place."""
    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(bytes(content))


def flip(path: Path, offset: int) -> None:
    """Flip all bits of one byte."""

    def change(content: bytearray) -> None:
        content[offset] ^= 0xFF

    edit(path, change)


def cut(path: Path, size: int) -> None:
    """Keep only the first bytes."""
    path.write_bytes(path.read_bytes()[:size])


def remove_bytes(path: Path, start: int, end: int) -> None:
    def change(content: bytearray) -> None:
        del content[start:end]

    edit(path, change)


def rewrite(path: Path, frame: Frame, event: bytes) -> None:
    """Replace an event by one of the same size, with a correct checksum."""
    body = event[:-4]

    def change(content: bytearray) -> None:
        content[frame.offset : frame.end_offset] = body + checksum_of(body)

    edit(path, change)


def mark_in_use(path: Path) -> None:
    """Mark a log as in use, as a server does: the checksum is computed without the flag."""

    def change(content: bytearray) -> None:
        content[4 + 17] |= HeaderFlag.BINLOG_IN_USE

    edit(path, change)


def message(report: Report, code: str) -> str:
    """Return the message of the first finding with a code."""
    return next(finding.message for finding in report.findings if finding.code == code)


def codes(report: Report, *severities: Severity) -> list[str]:
    """Return the codes of findings, all or of some severities, in the order of the report."""
    wanted = severities or tuple(Severity)
    return [finding.code for finding in report.findings if finding.severity in wanted]


def errors(report: Report) -> list[str]:
    return codes(report, Severity.ERROR)


def warnings(report: Report) -> list[str]:
    return codes(report, Severity.WARNING)


def infos(report: Report) -> list[str]:
    return codes(report, Severity.INFO)
