"""Record all cases, or those named on the command line."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tools.record_corpus.case import Case
from tools.record_corpus.mariadb_cases import mariadb_cases
from tools.record_corpus.mysql_cases import mysql_cases
from tools.record_corpus.readme import write_readme
from tools.record_corpus.recorder import Recorder

CORPUS = Path(__file__).parents[2] / "tests/corpus"
NOTES = Path(__file__).with_name("notes.md")


def main(names: list[str]) -> int:
    """Record cases; return 1 if one failed."""
    cases = [*mysql_cases().cases, *mariadb_cases().cases]
    chosen = [case for case in cases if not names or case.path in names or case.family.name in names]
    failed = [case.path for case in chosen if not record(case)]
    write_readme(CORPUS, cases, NOTES.read_text())
    print(f"{len(chosen) - len(failed)} recorded, failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def record(case: Case) -> bool:
    """Record one case; its folder in the corpus is replaced only if it did not fail."""
    began = time.monotonic()
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="record-"))) / case.name
        folder.mkdir()
        try:
            recorder = Recorder(case.family, case.options, folder, running)
            case.workload(recorder)
        except Exception as error:  # the other cases are still recorded
            print(f"{case.path}: FAILED: {error}")
            return False
        shutil.rmtree(CORPUS / case.path, ignore_errors=True)
        shutil.copytree(folder, CORPUS / case.path)
        version = recorder.server.version
    print(f"{case.path}: {case.family.title} {version}, {time.monotonic() - began:.1f} s", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
