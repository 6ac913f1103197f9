"""How far a stream has come: small JSON, with its keys always in the same order, because Spark compares it as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from binspark.client.resume import ResumePoint
from binspark.client.start import parse_gtids
from binspark.errors import OptionError
from binspark.files.sources import log_order
from binspark.position import Position

_VERSION = 1
_KEYS = ("v", "file", "pos", "gtid", "server", "created", "by_file", "lost")

UNRESOLVED: dict[str, Any] = {**dict.fromkeys(_KEYS), "v": _VERSION}
"""Where every stream begins: a constant, because Spark asks for it several times. What it means is found out once,
by the first offset that is asked for, which Spark keeps before it is used."""


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """The place behind all that was delivered: of a server's log, or of an archive (which names no server).

    lost  how often the stream has gone on with new logs because those that it read were reset: no order holds across it
    """

    file: str
    pos: int
    gtid: str | None = None
    server: str = ""
    created: int = 0
    by_file: bool = True
    lost: int = 0

    @classmethod
    def of_point(cls, point: ResumePoint, lost: int = 0) -> StreamOffset:
        """Return the offset of a place in a server's log."""
        gtid = None if point.gtids is None else str(point.gtids)
        return cls(point.file, point.offset, gtid, point.server, point.created, point.by_file, lost)

    @property
    def point(self) -> ResumePoint:
        """The place in the server's log."""
        gtids = None if self.gtid is None else parse_gtids(self.gtid)
        return ResumePoint(self.file, self.pos, gtids, self.server, self.created, self.by_file)

    @property
    def place(self) -> tuple[str, str, int]:
        """Where this is, without the GTIDs before it."""
        return self.server, self.file, self.pos

    @property
    def position(self) -> Position:
        return Position(file=self.file or None, offset=self.pos)

    def json(self) -> dict[str, Any]:
        """Return what Spark keeps."""
        values = (_VERSION, self.file, self.pos, self.gtid, self.server, self.created, self.by_file, self.lost)
        return dict(zip(_KEYS, values, strict=True))

    @classmethod
    def parse(cls, kept: dict[str, Any]) -> StreamOffset | None:
        """Return what `json` gave, None for where every stream begins."""
        if kept.get("v") != _VERSION:
            raise OptionError(f"the checkpoint holds an offset that this version does not know: {kept}")
        if kept.get("file") is None:
            return None
        return cls(**{key: kept[key] for key in _KEYS[1:] if key in kept})

    def is_before(self, other: StreamOffset) -> bool:
        """Tell whether a place comes before another, as far as that can be told: in the logs of one server."""
        return self._is_beside(other) and self._order < other._order

    def reaches(self, other: StreamOffset) -> bool:
        """Tell whether all that comes before another place comes before this one: by file, or by GTIDs."""
        if self._is_beside(other):
            return self._order >= other._order
        gtids, theirs = self.point.gtids, other.point.gtids
        return gtids is not None and theirs is not None and type(gtids) is type(theirs) and bool(theirs <= gtids)  # type: ignore[operator]

    def _is_beside(self, other: StreamOffset) -> bool:
        return (self.server, self.lost) == (other.server, other.lost) and self.by_file and other.by_file

    @property
    def _order(self) -> tuple[tuple[str, int], int]:
        return log_order(self.file), self.pos
