"""Verify chains of files: nothing missing, nothing twice, each file beginning where the one before ended.

Files are read one after the other in bounded memory: what is known about at most two of them is kept at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from binspark.errors import DecodeError, SourceError
from binspark.files.sources import LogSource, OnePath, Paths, each_once, expect_logs, files_in, find_logs, log_order
from binspark.frames import Family
from binspark.frames.format import version_numbers
from binspark.verify.file_check import ChainFile, FileCheck, pays_in_bulk
from binspark.verify.findings import DEFAULT_LIMIT, Code, Severity
from binspark.verify.gtids import mariadb_differences, mysql_differences, shortened
from binspark.verify.log_checks import Checks
from binspark.verify.report import FileReport, Report

# The first version of MySQL whose recovery clears the flag BINLOG_IN_USE of the log that was active in the crash.
_CLEARS_FLAG_SINCE = (5, 6, 0)


def verify_logs(paths: Paths, *, findings_per_code: int = DEFAULT_LIMIT, in_bulk: bool | None = None) -> Report:
    """Verify logs: files, globs, directories, index files. Of each code, a file reports only the first findings.

    With `in_bulk`, kernels skip the events that are sound, by default if the logs are large enough for that to be
    faster. The report is the same.
    """
    return Report.of(verify_files(paths, findings_per_code=findings_per_code, in_bulk=in_bulk))


def verify_files(
    paths: Paths, *, findings_per_code: int = DEFAULT_LIMIT, in_bulk: bool | None = None
) -> Iterator[FileReport]:
    """Yield the report about each file as soon as the next one was read, which shows how the file should have ended."""
    chains = find_chains(paths)
    expect_logs(file.source for chain in chains for file in chain if not file.missing)
    if in_bulk is None:
        in_bulk = _pays_in_bulk(chains)
    for chain in chains:
        yield from _verify_chain(chain, findings_per_code, in_bulk=in_bulk)


def _pays_in_bulk(chains: list[list[ChainFile]]) -> bool | None:
    """Return whether the size of all files is worth it; None if it is not known before they are opened."""
    try:
        return pays_in_bulk(sum(file.source.size() for chain in chains for file in chain if not file.missing))
    except (SourceError, DecodeError):
        return None


def find_chains(paths: Paths) -> list[list[ChainFile]]:
    """Return the files that paths refer to, by chain, each in the order in which they were given."""
    chains: dict[str, list[ChainFile]] = {}
    for source in _sources(paths):
        chain, number = log_order(source.name)
        file = ChainFile(source, chain, number if number >= 0 else None)
        chains.setdefault(chain, []).append(file)
    return list(chains.values())


def _sources(paths: Paths) -> list[LogSource]:
    if isinstance(paths, str | Path | LogSource):
        paths = [paths]
    return each_once(_with_damaged_siblings(path) for path in paths)


def _with_damaged_siblings(path: OnePath) -> list[LogSource]:
    """Return logs, and the files of their directory that are numbered like them but do not begin like a log."""
    found = find_logs(path)
    chains = {log_order(source.name)[0] for source in found if log_order(source.name)[1] >= 0}
    siblings = [file for file in files_in(path) if log_order(file.name)[1] >= 0 and log_order(file.name)[0] in chains]
    return sorted({*found, *siblings}, key=lambda source: log_order(source.name)) if siblings else found


def _verify_chain(chain: Iterable[ChainFile], limit: int, *, in_bulk: bool | None) -> Iterator[FileReport]:
    before: FileCheck | None = None
    for file in chain:
        after = FileCheck(file, limit, in_bulk=in_bulk)
        after.run()
        if before is None:
            _check_first(after)
        else:
            _check_pair(before, after)
            yield before.report()
        before = after
    if before is not None:
        _check_last(before)
        yield before.report()


def _check_first(first: FileCheck) -> None:
    """Report that a chain does not begin with the first log of its server, whose transactions are therefore missing."""
    number, earlier = first.file.number, first.gtids_before()
    if earlier:
        message = f"earlier logs were not given; their transactions, which are not in these files: {shortened(earlier)}"
        first.findings.info(Code.CHAIN_BEGINS_LATE, message, 4)
    elif number is not None and number > 1:
        message = f"earlier logs were not given: the log before this one is {first.file.numbered(number - 1)}"
        first.findings.info(Code.CHAIN_BEGINS_LATE, message, 4)


def _check_pair(before: FileCheck, after: FileCheck) -> None:
    """Check two files that were given one after the other."""
    later = _numbers_follow(before, after)
    _check_unfinished(before, excused=later and after.checks is not None and after.checks.ends.after_start)
    if not later or not before.checks or not after.checks:
        return
    _check_end(before, before.checks, after, after.checks)
    _check_server(before, after)
    _check_mysql_gtids(before.checks, after.checks, after)
    _check_mariadb_gtids(before.checks, after.checks, after)


def _check_last(last: FileCheck) -> None:
    """Check how the last file of a chain ends."""
    if last.checks is None:
        return
    ends = last.checks.ends
    _check_unfinished(last, excused=ends.in_use and not last.tail_lost)
    if ends.in_use:
        message = "the log is marked as in use: the server is still writing it, or crashed"
        last.findings.warning(Code.IN_USE, message, 4)
    elif not ends.ended and not ends.end_lost and not last.checks.kind.relay:
        message = "the log is not marked as in use, but does not end with ROTATE or STOP"
        if not last.checks.kind.has_in_use:
            message = "the log does not end with ROTATE or STOP: the server was still writing it, or crashed"
        severity = Severity.WARNING if last.checks.kind.has_in_use else Severity.INFO
        last.findings.add(severity, Code.NO_END, message)
    if ends.rotate:
        message = f"the log continues in {ends.rotate.next_file}, which was not given"
        last.findings.info(Code.CHAIN_CONTINUES, message, ends.end_offset)


def _numbers_follow(before: FileCheck, after: FileCheck) -> bool:
    """Compare the numbers of two files; return whether `after` is the later one, so that they can be compared."""
    first, second = before.file.number, after.file.number
    if first is None or second is None or first == second:
        after.findings.error(Code.DUPLICATE_FILE, "the file has the same number as the one before")
        return False
    if second < first:
        message = f"the file was given after {before.file.base_name}, which has a higher number"
        after.findings.error(Code.FILE_ORDER, message)
        return False
    if second > first + 1:
        missing = [after.file.numbered(number) for number in sorted({first + 1, second - 1})]
        which = f"{missing[0]} is" if len(missing) == 1 else f"{missing[0]} to {missing[-1]} are"
        after.findings.error(Code.MISSING_FILE, f"{which} missing between {before.file.base_name} and this file")
    return True


def _check_unfinished(file: FileCheck, *, excused: bool) -> None:
    """Report a transaction in which the file ends. A server that crashed, or is still writing, is an excuse."""
    first = file.checks.transactions.unfinished if file.checks else None
    if first is None or file.checks is None:
        return
    severity = Severity.WARNING if excused else Severity.ERROR
    if file.checks.kind.relay:
        severity = Severity.INFO  # the rest is in the next file, or is fetched again
    message = f"the log ends inside this transaction; cut to {first.offset} bytes, it ends with a complete one"
    file.findings.add(severity, Code.UNFINISHED_TRANSACTION, message, first.offset, first.type)


def _check_end(before: FileCheck, ended: Checks, after: FileCheck, begun: Checks) -> None:
    """Check the end of a file that is not the last one."""
    if ended.kind.relay or after.file.number != (before.file.number or 0) + 1:
        return
    ends = ended.ends
    if ends.in_use:
        crashed = begun.ends.after_start and _keeps_flag(before)
        severity = Severity.WARNING if crashed else Severity.ERROR
        message = f"the log is marked as in use, but {after.file.base_name} follows it: {_why(begun)}"
        before.findings.add(severity, Code.IN_USE, message, 4)
    if not ends.ended and not ends.end_lost:
        severity = Severity.WARNING if begun.ends.after_start else Severity.ERROR
        message = f"the log does not end with ROTATE or STOP, but {after.file.base_name} follows it: {_why(begun)}"
        before.findings.add(severity, Code.NO_END, message)
    if ends.rotate and not _names(ends.rotate.next_file, after):
        message = f"ROTATE names {ends.rotate.next_file} as the next file, found {after.file.base_name}"
        before.findings.error(Code.ROTATE_TARGET, message, ends.end_offset)


def _why(begun: Checks) -> str:
    if begun.ends.after_start:
        return "the server crashed and restarted"
    return "the server did not restart in between, so this file is incomplete"


def _keeps_flag(file: FileCheck) -> bool:
    """Return whether the server leaves a log marked as in use when it recovers from a crash: MariaDB, and old MySQL."""
    assert file.format is not None
    return file.format.family is Family.MARIADB or version_numbers(file.format.server_version) < _CLEARS_FLAG_SINCE


def _names(next_file: str, after: FileCheck) -> bool:
    """Compare names by their numbers, because all files of a chain may have been renamed."""
    name = Path(next_file).name
    return name == after.file.base_name or log_order(name)[1] == after.file.number


def _check_server(before: FileCheck, after: FileCheck) -> None:
    assert before.format is not None
    assert after.format is not None
    if before.format.server_version != after.format.server_version:
        message = f"the server version changes from {before.format.server_version} to {after.format.server_version}"
        after.findings.info(Code.SERVER_VERSION, message, 4)
    if before.server_id != after.server_id:
        message = f"the server id changes from {before.server_id} to {after.server_id}"
        after.findings.info(Code.SERVER_ID, message, 4)


def _check_mysql_gtids(before: Checks, after: Checks, later: FileCheck) -> None:
    known, listed = before.mysql_gtids, after.mysql_gtids
    if known.previous is None or listed.previous is None:
        return
    lost, unexpected = mysql_differences(known.previous, known.collected(), listed.previous)
    severity = Severity.WARNING if after.kind.relay else Severity.ERROR
    if lost:
        message = f"PREVIOUS_GTIDS has transactions that are not in the file before: {shortened(lost)}"
        later.findings.add(severity, Code.GTID_LOST, message, listed.previous_offset)
    if unexpected:
        message = f"PREVIOUS_GTIDS lacks transactions of the file before: {shortened(unexpected)}"
        later.findings.add(severity, Code.GTID_UNEXPECTED, message, listed.previous_offset)


def _check_mariadb_gtids(before: Checks, after: Checks, later: FileCheck) -> None:
    known, listed = before.mariadb_gtids, after.mariadb_gtids
    if known.listed is None or listed.listed is None:
        return
    differences = mariadb_differences(known.state, known.collected, listed.listed)
    offset = listed.listed_offset
    if differences.lost:
        names = ", ".join(map(str, differences.lost))
        message = f"GTID_LIST has transactions that are not in the file before, up to {names}"
        later.findings.error(Code.GTID_LOST, message, offset)
    if differences.unexpected:
        names = ", ".join(map(str, differences.unexpected))
        message = f"GTID_LIST lacks transactions of the file before, up to {names}"
        later.findings.error(Code.GTID_UNEXPECTED, message, offset)
    if differences.deleted_domains:
        names = ", ".join(map(str, differences.deleted_domains))
        message = f"GTID_LIST no longer has the domains {names}"
        later.findings.info(Code.GTID_DOMAIN_DELETED, message, offset)
