"""Verify how files follow each other: nothing missing, nothing twice, each beginning where the one before ended."""

from __future__ import annotations

from pathlib import Path

from binspark.files.sources import log_order
from binspark.frames import Family
from binspark.frames.format import version_numbers
from binspark.verify import mariadb_gtids, mysql_gtids
from binspark.verify.file_check import Checks, FileCheck
from binspark.verify.findings import Code, Severity

_CLEARS_FLAG_SINCE = (5, 6, 0)


def check_pair(before: FileCheck, after: FileCheck) -> None:
    """Check two files that were named one after the other."""
    later = _numbers_follow(before, after)
    _check_unfinished(before, excused=later and after.checks is not None and after.checks.ends.after_start)
    if not later or not before.checks or not after.checks:
        return
    _check_end(before, before.checks, after, after.checks)
    _check_server(before, after)
    _check_mysql_gtids(before.checks, after.checks, after)
    _check_mariadb_gtids(before.checks, after.checks, after)


def check_last(last: FileCheck) -> None:
    """Check how the last file of a chain ends."""
    if last.checks is None:
        return
    ends = last.checks.ends
    _check_unfinished(last, excused=ends.in_use and not last.tail_lost)
    if ends.in_use:
        message = "the log is marked as in use: the server still writes it, or crashed"
        last.findings.warning(Code.IN_USE, message, 4)
    elif not ends.ended and not ends.end_lost and not last.checks.kind.relay:
        last.findings.warning(Code.NO_END, "the log is closed, but neither ROTATE nor STOP ends it")
    if ends.rotate:
        message = f"the log goes on in {ends.rotate.next_file}, which was not named"
        last.findings.info(Code.CHAIN_CONTINUES, message, ends.end_offset)


def _numbers_follow(before: FileCheck, after: FileCheck) -> bool:
    """Compare the numbers of the files; return whether `after` comes later, so that they can be compared."""
    first, second = before.file.number, after.file.number
    if first is None or second is None or first == second:
        after.findings.error(Code.DUPLICATE_FILE, "the file was named twice")
        return False
    if second < first:
        after.findings.error(Code.FILE_ORDER, f"the file was named after {before.file.base_name}, which follows it")
        return False
    if second > first + 1:
        missing = [after.file.numbered(number) for number in sorted({first + 1, second - 1})]
        which = f"{missing[0]} is" if len(missing) == 1 else f"{missing[0]} to {missing[-1]} are"
        after.findings.error(Code.MISSING_FILE, f"{which} missing between {before.file.base_name} and this file")
    return True


def _check_unfinished(file: FileCheck, *, excused: bool) -> None:
    """Report a transaction that the file ends inside of. A server that crashed, or still writes, is an excuse."""
    first = file.checks.groups.unfinished if file.checks else None
    if first is None or file.checks is None:
        return
    severity = Severity.WARNING if excused else Severity.ERROR
    if file.checks.kind.relay:
        severity = Severity.INFO  # the rest follows in the next file, or is fetched again
    message = f"the log ends inside a transaction; without it, it can be cut to {first.offset} bytes"
    file.findings.add(severity, Code.UNFINISHED_TRANSACTION, message, first.offset, first.type)


def _check_end(before: FileCheck, ended: Checks, after: FileCheck, begun: Checks) -> None:
    """Check the end of a file that is not the last one."""
    if ended.kind.relay or after.file.number != (before.file.number or 0) + 1:
        return
    ends = ended.ends
    if ends.in_use:
        crashed = begun.ends.after_start and _leaves_flag(before)
        severity = Severity.WARNING if crashed else Severity.ERROR
        message = f"the log is marked as in use, but {after.file.base_name} follows it: {_why(begun)}"
        before.findings.add(severity, Code.IN_USE, message, 4)
    if not ends.ended and not ends.end_lost:
        severity = Severity.WARNING if begun.ends.after_start else Severity.ERROR
        message = f"neither ROTATE nor STOP ends the log, but {after.file.base_name} follows it: {_why(begun)}"
        before.findings.add(severity, Code.NO_END, message)
    if ends.rotate and not _names(ends.rotate.next_file, after):
        message = f"the log is said to go on in {ends.rotate.next_file}, the next file is {after.file.base_name}"
        before.findings.error(Code.ROTATE_TARGET, message, ends.end_offset)


def _why(begun: Checks) -> str:
    if begun.ends.after_start:
        return "the server crashed and started again"
    return "the server did not restart between them, so this is not the whole file"


def _leaves_flag(file: FileCheck) -> bool:
    """Tell whether recovery from a crash leaves the log marked as in use: MariaDB's does, MySQL's did before 5.6."""
    assert file.format is not None
    return file.format.family is Family.MARIADB or version_numbers(file.format.server_version) < _CLEARS_FLAG_SINCE


def _names(next_file: str, after: FileCheck) -> bool:
    """Compare names by their numbers, so that a chain whose files were all renamed alike holds together."""
    name = Path(next_file).name
    return name == after.file.base_name or log_order(name)[1] == after.file.number


def _check_server(before: FileCheck, after: FileCheck) -> None:
    assert before.format is not None
    assert after.format is not None
    if before.format.server_version != after.format.server_version:
        message = f"the server's version changes from {before.format.server_version} to {after.format.server_version}"
        after.findings.info(Code.SERVER_VERSION, message, 4)
    if before.server_id != after.server_id:
        message = f"the server's id changes from {before.server_id} to {after.server_id}"
        after.findings.info(Code.SERVER_ID, message, 4)


def _check_mysql_gtids(before: Checks, after: Checks, later: FileCheck) -> None:
    known, listed = before.mysql_gtids, after.mysql_gtids
    if known.previous is None or listed.previous is None:
        return
    lost, unexpected = mysql_gtids.continuity(known.previous, known.collected(), listed.previous)
    severity = Severity.WARNING if after.kind.relay else Severity.ERROR
    if lost:
        message = f"PREVIOUS_GTIDS holds transactions that are not in the file before: {mysql_gtids.shown(lost)}"
        later.findings.add(severity, Code.GTID_LOST, message, listed.previous_offset)
    if unexpected:
        message = f"PREVIOUS_GTIDS lacks transactions of the file before: {mysql_gtids.shown(unexpected)}"
        later.findings.add(severity, Code.GTID_UNEXPECTED, message, listed.previous_offset)


def _check_mariadb_gtids(before: Checks, after: Checks, later: FileCheck) -> None:
    known, listed = before.mariadb_gtids.trail, after.mariadb_gtids.trail
    if known.listed is None or listed.listed is None:
        return
    differences = mariadb_gtids.continuity(known.state, before.mariadb_gtids.collected, listed.listed)
    offset = listed.listed_offset
    if differences.lost:
        names = ", ".join(map(str, differences.lost))
        message = f"GTID_LIST holds transactions that are not in the file before, up to {names}"
        later.findings.error(Code.GTID_LOST, message, offset)
    if differences.unexpected:
        names = ", ".join(map(str, differences.unexpected))
        message = f"GTID_LIST lacks transactions of the file before, up to {names}"
        later.findings.error(Code.GTID_UNEXPECTED, message, offset)
    if differences.deleted_domains:
        names = ", ".join(map(str, differences.deleted_domains))
        message = f"GTID_LIST no longer holds the domains {names}"
        later.findings.info(Code.GTID_DOMAIN_DELETED, message, offset)
