"""What a stream reports of its source in the query's progress: where it writes, and how much is not read yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from binspark.replication.position import BinlogPosition

LAG_BYTES, LAG_SECONDS = "lag_bytes", "lag_seconds"


@dataclass(frozen=True, slots=True)
class Reported:
    """Where a source writes.

    lag_bytes    how much of it comes after the last batch; None if that is not known
    lag_seconds  how old the first transaction of it is; 0 if there is none, None if that is not known
    """

    head: BinlogPosition
    lag_bytes: int | None = None
    lag_seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form of the position, with the lag."""
        return {**self.head.to_json(), LAG_BYTES: self.lag_bytes, LAG_SECONDS: self.lag_seconds}
