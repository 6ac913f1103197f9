"""Which files are verified, and which of them follow each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from binspark.files.sources import LogSource, OnePath, Paths, files_in, find_logs, log_order


@dataclass(frozen=True, slots=True)
class ChainFile:
    """A file, the chain that it belongs to, and its number in it; None when its name has no number."""

    source: LogSource
    chain: str
    number: int | None

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def base_name(self) -> str:
        return Path(self.name).name

    @property
    def missing(self) -> bool:
        """Whether an index lists the file, but it is not there."""
        return not self.source.exists()

    def numbered(self, number: int) -> str:
        """Name the file of this chain with another number."""
        digits = len(self.name.rpartition(".")[2])
        return f"{Path(self.chain).name}.{number:0{digits}}"


def find_chains(paths: Paths) -> list[list[ChainFile]]:
    """Return the files that paths mean as chains; the order within a chain is the one in which they were named."""
    chains: dict[str, list[ChainFile]] = {}
    for source in _sources(paths):
        chain, number = log_order(source.name)
        file = ChainFile(source, chain, number if number >= 0 else None)
        chains.setdefault(chain, []).append(file)
    return list(chains.values())


def _sources(paths: Paths) -> list[LogSource]:
    if isinstance(paths, str | Path | LogSource):
        paths = [paths]
    return [source for path in paths for source in _with_siblings(path)] or find_logs([])


def _with_siblings(path: OnePath) -> list[LogSource]:
    """Add the files of a directory that are numbered like its logs, but do not begin like one: they are damaged."""
    found = find_logs(path)
    chains = {log_order(source.name)[0] for source in found if log_order(source.name)[1] >= 0}
    siblings = [file for file in files_in(path) if log_order(file.name)[1] >= 0 and log_order(file.name)[0] in chains]
    return sorted({*found, *siblings}, key=lambda source: log_order(source.name)) if siblings else found
