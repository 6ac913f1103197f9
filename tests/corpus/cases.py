"""The recorded logs, for tests: `from corpus.cases import corpus_logs`.

pytest puts the folder of `conftest.py` on the path, so that this module is found from every test.
"""

from __future__ import annotations

from pathlib import Path

from binspark.cli.output import json_line
from binspark.errors import DecodeError
from binspark.files import read_events
from binspark.render.records import event_record

CORPUS = Path(__file__).parent
FAMILIES = ("mysql", "mariadb")
MYSQL_ENCRYPTED_MAGIC = b"\xfdbin"
ENCRYPTED_CASES = ("mysql/encrypted", "mariadb/encrypted")
TRUNCATED_CASES = ("mysql/crash-truncated", "mariadb/crash-truncated")


def corpus_logs(*families: str, encrypted: bool = False, truncated: bool = False) -> list[Path]:
    """List the recorded logs of these families (both when none is named).

    Encrypted logs and those that end in the middle of an event are only among them when asked for.
    """
    left_out = (*(() if encrypted else ENCRYPTED_CASES), *(() if truncated else TRUNCATED_CASES))
    logs = [
        path
        for family in families or FAMILIES
        for path in sorted((CORPUS / family).glob("*/*"))
        if path.suffix[1:].isdigit()
    ]
    return [log for log in logs if case_of(log) not in left_out]


def case_logs(case: str) -> list[Path]:
    """List the logs of one case, such as `mysql/rotation`, in the order of their names."""
    return sorted(path for path in (CORPUS / case).iterdir() if path.suffix[1:].isdigit())


def case_of(log: Path) -> str:
    """Name the case a log belongs to: `mysql/rotation`. Good as a test's id."""
    return log.parent.relative_to(CORPUS).as_posix()


def log_id(log: Path) -> str:
    """Name a log for a test's id: `mysql/rotation/binlog.000001`."""
    return log.relative_to(CORPUS).as_posix()


def witness(log: Path) -> str:
    """Return what the server's own reader printed of a log; bytes that are not UTF-8 are kept as surrogates."""
    return log.with_name(f"{log.name}.txt").read_text(encoding="utf-8", errors="surrogateescape")


def golden_path(log: Path) -> Path:
    """Return where the JSON lines of a log are kept."""
    return log.with_name(f"{log.name}.jsonl")


def golden_lines(log: Path) -> list[str]:
    """Return a log's events as JSON lines; a log that cannot be read to its end ends with a line that says why."""
    lines: list[str] = []
    try:
        for event in read_events(log):
            lines.append(json_line(event_record(event)))  # noqa: PERF401 (what came before an error counts)
    except DecodeError as error:
        position = error.position
        lines.append(json_line({"error": type(error).__name__, "message": error.message, "pos": position.offset}))
    return lines
