"""Verify files, one after the other, in bounded memory: at most two files' facts are held at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from binspark.files.sources import Paths
from binspark.verify.chain import check_last, check_pair
from binspark.verify.chain_files import ChainFile, find_chains
from binspark.verify.file_check import FileCheck
from binspark.verify.findings import DEFAULT_LIMIT
from binspark.verify.report import FileReport, Report


def verify_logs(paths: Paths, *, findings_per_code: int = DEFAULT_LIMIT) -> Report:
    """Verify logs: files, globs, directories, index files. Of each kind of finding a file keeps only the first few."""
    return Report.of(verify_files(paths, findings_per_code=findings_per_code))


def verify_files(paths: Paths, *, findings_per_code: int = DEFAULT_LIMIT) -> Iterator[FileReport]:
    """Yield the report of each file as soon as the file behind it was read, which tells how it should have ended."""
    for chain in find_chains(paths):
        yield from _verify_chain(chain, findings_per_code)


def _verify_chain(chain: Iterable[ChainFile], limit: int) -> Iterator[FileReport]:
    before: FileCheck | None = None
    for file in chain:
        after = FileCheck(file, limit)
        after.run()
        if before is not None:
            check_pair(before, after)
            yield before.report()
        before = after
    if before is not None:
        check_last(before)
        yield before.report()
