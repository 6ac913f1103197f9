"""A report as a page, and as JSON."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from binspark.private_files import open_output
from binspark.reports.as_json import report_record
from binspark.reports.numbers import ReportNumbers
from binspark.reports.page import report_page


class Report:
    """What logs contain and what is wrong with them; `numbers` has all that is counted."""

    def __init__(self, numbers: ReportNumbers) -> None:
        self.numbers = numbers

    @property
    def ok(self) -> bool:
        """Whether `verify` found no error."""
        return self.numbers.verification.summary.ok

    def to_json(self, *, show_secrets: bool = False) -> dict[str, Any]:
        """Return all numbers as values of JSON."""
        return report_record(self._shown(show_secrets=show_secrets))

    def to_html(self, *, show_secrets: bool = False) -> str:
        """Return the page: complete in itself, it needs no network and no script."""
        return report_page(self._shown(show_secrets=show_secrets))

    def write_html(self, path: str | Path, *, show_secrets: bool = False) -> None:
        """Write the page to a file that others cannot read."""
        with open_output(path) as file:
            file.write(self.to_html(show_secrets=show_secrets).encode())

    def _shown(self, *, show_secrets: bool) -> ReportNumbers:
        return self.numbers if show_secrets else self.numbers.without_secrets()

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks."""
        page = escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox style="width: 100%; height: 80vh; border: 0"></iframe>'
