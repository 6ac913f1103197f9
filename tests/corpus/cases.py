"""The recorded logs, for tests: `from tests.corpus.cases import corpus_logs`."""

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

COVERING_CASES = (
    *("mysql/crash-truncated", "mysql/ddl", "mysql/encrypted", "mysql/gtid-off", "mysql/gtid-tagged", "mysql/incident"),
    *("mysql/json-partial-minimal", "mysql/keys", "mysql/load-data", "mysql/load-data-failed", "mysql/multi-table"),
    *("mysql/replica", "mysql/rows-query", "mysql/session-context", "mysql/types-compressed"),
    *("mysql/types-image-minimal", "mysql/user-variables", "mysql/xa"),
    *("mariadb/alter-two-phase", "mariadb/checksum-none", "mariadb/crash-truncated", "mariadb/ddl"),
    *("mariadb/encrypted", "mariadb/incident", "mariadb/keys", "mariadb/load-data", "mariadb/load-data-failed"),
    *("mariadb/metadata-none", "mariadb/multi-table", "mariadb/parallel", "mariadb/replica"),
    *("mariadb/session-context", "mariadb/types-compressed", "mariadb/types-minimal", "mariadb/types-old-temporal"),
    *("mariadb/user-variables", "mariadb/xa"),
)
"""Cases that together have all that any log has: types of events and columns, settings, forms of rows.

The quick run takes these where a test reads every log. `test_covering_cases` shows that nothing is missing.
"""


def corpus_logs(*families: str, encrypted: bool = False, truncated: bool = False) -> list[Path]:
    """Return the recorded logs of these families (of both if none is given).

    Encrypted logs and logs that end inside an event are only included if requested.
    """
    skipped = (*(() if encrypted else ENCRYPTED_CASES), *(() if truncated else TRUNCATED_CASES))
    logs = [
        path
        for family in families or FAMILIES
        for path in sorted((CORPUS / family).glob("*/*"))
        if path.suffix[1:].isdigit()
    ]
    return [log for log in logs if case_of(log) not in skipped]


def case_logs(case: str) -> list[Path]:
    """Return the logs of one case, such as `mysql/rotation`, in the order of their names."""
    return sorted(path for path in (CORPUS / case).iterdir() if path.suffix[1:].isdigit())


def case_of(log: Path) -> str:
    """Return the case of a log, such as `mysql/rotation`; suitable as a test's id."""
    return log.parent.relative_to(CORPUS).as_posix()


def log_id(log: Path) -> str:
    """Return the name of a log for a test's id: `mysql/rotation/binlog.000001`."""
    return log.relative_to(CORPUS).as_posix()


def witness(log: Path) -> str:
    """Return the output of mysqlbinlog or mariadb-binlog for a log; bytes that are not UTF-8 are kept as surrogates."""
    return log.with_name(f"{log.name}.txt").read_text(encoding="utf-8", errors="surrogateescape")


def golden_path(log: Path) -> Path:
    """Return the path of the golden JSON lines of a log."""
    return log.with_name(f"{log.name}.jsonl")


def golden_lines(log: Path) -> list[str]:
    """Return the events of a log as JSON lines; the last line is the error if the log cannot be read to its end."""
    lines: list[str] = []
    try:
        for event in read_events(log):
            lines.append(json_line(event_record(event)))  # noqa: PERF401 (what came before an error counts)
    except DecodeError as error:
        position = error.position
        lines.append(json_line({"error": type(error).__name__, "message": error.message, "pos": position.offset}))
    return lines
