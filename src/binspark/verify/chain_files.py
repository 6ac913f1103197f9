"""Which files are verified, and which of them follow each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from binspark.files.sources import STANDARD_INPUT, LogSource, Paths, find_logs, log_order


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
        return self.name != STANDARD_INPUT and not Path(self.name).exists()

    def numbered(self, number: int) -> str:
        """Name the file of this chain with another number."""
        digits = len(self.name.rpartition(".")[2])
        return f"{Path(self.chain).name}.{number:0{digits}}"


def find_chains(paths: Paths) -> list[list[ChainFile]]:
    """Return the files that paths mean as chains; the order within a chain is the one in which they were named."""
    chains: dict[str, list[ChainFile]] = {}
    for name in _names(paths):
        chain, number = log_order(name)
        file = ChainFile(LogSource(name), chain, number if number >= 0 else None)
        chains.setdefault(chain, []).append(file)
    return list(chains.values())


def _names(paths: Paths) -> list[str]:
    if isinstance(paths, str | Path):
        paths = [paths]
    return [name for path in paths for name in _names_of(path)] or [source.name for source in find_logs([])]


def _names_of(path: str | Path) -> list[str]:
    names = [source.name for source in find_logs(path)]
    return _with_siblings(names, Path(path)) if Path(path).is_dir() else names


def _with_siblings(names: Iterable[str], directory: Path) -> list[str]:
    """Add the files of a directory that are numbered like its logs, but do not begin like one: they are damaged."""
    found = set(names)
    chains = {log_order(name)[0] for name in found if log_order(name)[1] >= 0}
    numbered = (str(path) for path in directory.iterdir() if path.is_file() and log_order(str(path))[1] >= 0)
    found.update(name for name in numbered if log_order(name)[0] in chains)
    return sorted(found, key=log_order)
