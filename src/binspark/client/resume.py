"""Where to go on: a value that says it for the same server and, with GTIDs, for any other of its topology."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from binspark.client.start import AtFile, parse_gtids
from binspark.errors import OptionError
from binspark.gtid import GtidSet, MariadbPosition
from binspark.position import Position


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """The place behind everything that was delivered. `str` and `parse` are inverse; it is made to be stored.

    file, offset  where the next event of the server's log begins
    gtids         all transactions before it; None where they are not known or have no GTIDs
    server        the server whose file that is
    created       when the file was made, seconds since 1970: tells it from another of the same name; 0 if not known
    by_file       whether the place in the file is enough; if not, what follows it may hold transactions of `gtids`
    """

    file: str
    offset: int
    gtids: GtidSet | MariadbPosition | None = None
    server: str = ""
    created: int = 0
    by_file: bool = True

    @property
    def at_file(self) -> AtFile:
        return AtFile(self.file, self.offset)

    @property
    def position(self) -> Position:
        return Position(file=self.file or None, offset=self.offset, source=self.server or None)

    def __str__(self) -> str:
        gtids = None if self.gtids is None else str(self.gtids)
        fields = {"file": self.file, "offset": self.offset, "gtids": gtids, "server": self.server}
        return json.dumps({**fields, "created": self.created, "by_file": self.by_file})

    @classmethod
    def parse(cls, text: str) -> ResumePoint:
        """Parse what `str` gave."""
        try:
            fields: dict[str, Any] = json.loads(text)
            gtids = fields["gtids"]
            return cls(
                str(fields["file"]),
                int(fields["offset"]),
                None if gtids is None else parse_gtids(gtids),
                str(fields["server"]),
                int(fields["created"]),
                bool(fields["by_file"]),
            )
        except (ValueError, KeyError, TypeError):
            raise OptionError(f"{text!r} is not a resume point") from None
