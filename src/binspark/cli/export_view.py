"""What `binspark export` shows: that kernels are compiled, how far it is, what it wrote."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from binspark.errors import SourceError
from binspark.files import LogSource

if TYPE_CHECKING:
    from binspark.export import TableSummary

_SCAN_KERNEL = "scan.scan-*.nbi"
_MEGABYTE = 1_000_000


def notice_of_compiling(console: Console) -> None:
    """Say that the first use takes longer, if this is the first use and a person looks."""
    if console.is_terminal and not _is_compiled():
        console.print("Compiling the decoder; this happens once and takes half a minute…")


def _is_compiled() -> bool:
    import numba

    import binspark.columns.kernels  # noqa: F401 (says where compiled kernels are kept)

    return any(Path(vars(numba.config)["CACHE_DIR"]).rglob(_SCAN_KERNEL))


class Progress:
    """A bar on a terminal: how much of the logs is read, how fast, and how many rows came of it. Quiet elsewhere."""

    def __init__(self, console: Console, sources: Iterable[LogSource]) -> None:
        self._rows = 0
        self._start = monotonic()
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TextColumn("{task.fields[rows]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("reading", total=_total_size(sources), rows="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def add_bytes(self, count: int) -> None:
        """Say that more was read."""
        self._bar.advance(self._task, count)

    def add_rows(self, count: int) -> None:
        """Say that more was written."""
        self._rows += count
        speed = self._rows / max(monotonic() - self._start, 0.001)
        self._bar.update(self._task, rows=f"{self._rows:,} rows, {speed:,.0f} rows/s")


def _total_size(sources: Iterable[LogSource]) -> int | None:
    """Return the size of all logs, None where one of them cannot tell."""
    try:
        return sum(source.size() for source in sources)
    except SourceError:
        return None


def summary_record(table: TableSummary) -> dict[str, Any]:
    """Return what was written of a table as the record that `--format jsonl` prints."""
    return {
        "schema": table.schema,
        "table": table.table,
        "rows": table.rows,
        "files": table.files,
        "bytes": table.bytes,
    }


def summary_page(tables: Iterable[TableSummary]) -> Table:
    """Return what was written as a table for a person."""
    page = Table("table", box=None, pad_edge=False)
    for heading in ("rows", "files", "MB"):
        page.add_column(heading, justify="right")
    total = [0, 0, 0]
    for table in tables:
        counts = (table.rows, table.files, table.bytes)
        total = [sum(pair) for pair in zip(total, counts, strict=True)]
        page.add_row(table.name, *_shown(*counts))
    page.add_row("in all", *_shown(*total), style="bold")
    return page


def _shown(rows: int, files: int, size: int) -> tuple[str, str, str]:
    return f"{rows:,}", f"{files:,}", f"{size / _MEGABYTE:,.3f}"
