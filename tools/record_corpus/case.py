"""A case of the corpus: its name, what it shows, the server's options, and the workload."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.testing.servers import Family
from tools.record_corpus.recorder import Options, Recorder

Workload = Callable[[Recorder], None]


@dataclass(frozen=True)
class Case:
    """One folder of the corpus."""

    family: Family
    name: str
    shows: str
    workload: Workload
    options: Options

    @property
    def path(self) -> str:
        """The folder's path in the corpus."""
        return f"{self.family.name}/{self.name}"


class CaseList:
    """The cases of one family, in order."""

    def __init__(self, family: Family, options: Options) -> None:
        self.family = family
        self.options = options
        self.cases: list[Case] = []

    def add(self, name: str, shows: str, workload: Workload, **options: str | int | None) -> None:
        """Add a case. Option names have underscores instead of dashes."""
        merged = {**self.options, **{key.replace("_", "-"): value for key, value in options.items()}}
        self.cases.append(Case(self.family, name, shows, workload, merged))


def scripts(*names: str) -> Workload:
    """Return a workload that runs scripts, stops the server, and keeps its logs."""

    def run(recorder: Recorder) -> None:
        for name in names:
            recorder.script(name)
        recorder.keep_logs_after_stop()

    return run
