"""What a case is: a name, what it shows, the server's options, and what is played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.testing.servers import Family
from tools.record_corpus.stage import Options, Stage

Play = Callable[[Stage], None]


@dataclass(frozen=True)
class Case:
    """One folder of the corpus."""

    family: Family
    name: str
    shows: str
    play: Play
    options: Options

    @property
    def path(self) -> str:
        """The folder's path in the corpus."""
        return f"{self.family.name}/{self.name}"


class CaseList:
    """The cases of one family, in the order they were written."""

    def __init__(self, family: Family, options: Options) -> None:
        self.family = family
        self.options = options
        self.cases: list[Case] = []

    def add(self, name: str, shows: str, play: Play, **options: str | int | None) -> None:
        """Add a case; option names are written with underscores."""
        merged = {**self.options, **{key.replace("_", "-"): value for key, value in options.items()}}
        self.cases.append(Case(self.family, name, shows, play, merged))


def scripts(*names: str) -> Play:
    """Run scripts, stop the server in order, keep its logs."""

    def play(stage: Stage) -> None:
        for name in names:
            stage.script(name)
        stage.keep_logs_after_stop()

    return play
