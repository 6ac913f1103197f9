"""A position in a server's binary logs: the value that offsets, checkpoints and resume positions are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from binspark.errors import OptionError
from binspark.files.sources import log_order
from binspark.position import Position
from binspark.replication.gtids import Gtids, includes, parse_gtids

_VERSION = 1
_JSON_FIELDS = {
    "file": "file",
    "pos": "offset",
    "gtid": "gtids",
    "server": "server",
    "created": "created",
    "by_file": "by_file",
    "lost": "resets",
    "epoch": "epoch",
}
"""The keys of the JSON form, in their order, and the fields that they contain."""

_UNVERSIONED_FIELDS = {name: name for name in ("file", "offset", "gtids", "server", "created", "by_file")}
"""The keys of the form that was written before the JSON form had a version."""


@dataclass(frozen=True, slots=True)
class BinlogPosition:
    """A position in the binary logs of a server.

    file, offset  where the next event of the server's logs begins; an empty file if only GTIDs are known
    gtids         all transactions before it; None where they are not known or have no GTIDs
    server        the UUID of the server whose file that is; empty if not known, and in archives
    created       when the file was created, seconds since 1970: distinguishes it from another of the same name; 0 if
                  not known
    by_file       whether file and offset are enough; if not, transactions of `gtids` may still follow, and only the
                  GTIDs say what is left to read
    resets        how often the logs were reset under the stream: positions before and after a reset have no order
    epoch         how often the stream has continued with other logs: those of another server, or new ones after a reset

    `str` and `parse` are inverse, and so are `to_json` and `from_json`. Checkpoints contain the JSON form; Spark
    compares it as text, so its keys always have the same order.
    """

    file: str
    offset: int
    gtids: Gtids | None = None
    server: str = ""
    created: int = 0
    by_file: bool = True
    resets: int = 0
    epoch: int = 0

    @classmethod
    def after_gtids(cls, gtids: Gtids) -> BinlogPosition:
        """Return the position after these transactions, which a server finds by their GTIDs."""
        return cls("", 0, gtids, by_file=False)

    @property
    def coordinates(self) -> tuple[str, str, int]:
        """Server, file and offset, without the GTIDs before them."""
        return self.server, self.file, self.offset

    @property
    def order(self) -> tuple[tuple[str, int], int]:
        """Sorts positions in the logs of one server."""
        return log_order(self.file), self.offset

    @property
    def error_position(self) -> Position:
        """The same for errors."""
        return Position(file=self.file or None, offset=self.offset)

    def is_before(self, other: BinlogPosition) -> bool:
        """Return whether this comes before another position, where order is defined: in the logs of one server."""
        return self.is_ordered_with(other) and self.order < other.order

    def reaches(self, other: BinlogPosition) -> bool:
        """Return whether all that comes before another position comes before this one: by file, or by GTIDs."""
        if self.is_ordered_with(other):
            return self.order >= other.order
        return self.gtids is not None and other.gtids is not None and includes(self.gtids, other.gtids)

    def is_ordered_with(self, other: BinlogPosition) -> bool:
        """Return whether files and offsets say which of two positions comes first."""
        return (self.server, self.resets) == (other.server, other.resets) and self.by_file and other.by_file

    def describe(self) -> str:
        """Return the position as people write it: `binlog.000003:154`, or GTIDs where there is no file."""
        return f"{self.file}:{self.offset}" if self.file else str(self.gtids or "") or "gtid:"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, with its keys in their order."""
        fields = {key: getattr(self, name) for key, name in _JSON_FIELDS.items()}
        fields["gtid"] = None if self.gtids is None else str(self.gtids)
        return {"v": _VERSION, **fields}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> BinlogPosition:
        """Return the position of a JSON form. The last keys are missing in what earlier versions wrote."""
        if fields.get("v") != _VERSION:
            raise OptionError(f"the position {dict(fields)} has version {fields.get('v')!r}, expected {_VERSION}")
        return cls._of_fields(fields, _JSON_FIELDS)

    def __str__(self) -> str:
        return json.dumps(self.to_json())

    @classmethod
    def parse(cls, text: str) -> BinlogPosition:
        """Parse what `str` returned, or the form that was written before positions had a version."""
        try:
            fields = json.loads(text)
            if "v" in fields:
                return cls.from_json(fields)
            return cls._of_fields({key: fields[key] for key in _UNVERSIONED_FIELDS}, _UNVERSIONED_FIELDS)
        except (ValueError, KeyError, TypeError):
            raise OptionError(f"{text!r} is not a binlog position in JSON") from None

    @classmethod
    def _of_fields(cls, fields: Mapping[str, Any], names: Mapping[str, str]) -> BinlogPosition:
        values = {names[key]: value for key, value in fields.items() if key in names}
        gtids = values.get("gtids")
        return cls(
            file=str(values["file"]),
            offset=int(values["offset"]),
            gtids=None if gtids is None else parse_gtids(gtids),
            server=str(values.get("server", "")),
            created=int(values.get("created", 0)),
            by_file=bool(values.get("by_file", True)),
            resets=int(values.get("resets", 0)),
            epoch=int(values.get("epoch", 0)),
        )
