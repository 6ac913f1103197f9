"""Parts of logs on their way to executors: splits of files or ranges of a server's logs, with the schemas there."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from binspark.schema.history import SchemaHistory
from binspark.spark.plan import SchemaVersion

if TYPE_CHECKING:
    from binspark.files.splits import Split
    from binspark.spark.streaming.range_reader import ServerRange
    from binspark.spark.views.base import LogReader

_HISTORIES = 4


class RangePartition(InputPartition):
    """A part of a range, with what is known of tables there: an executor gets nothing else from the driver.

    version  the schema version of the query, with its relation to the versions of the rows
    """

    def __init__(self, part: Split | ServerRange, history: bytes, version: SchemaVersion | None) -> None:
        super().__init__(part)
        self.part = part
        self.history = history
        self.version = version


def partitions_of(
    parts: Iterable[tuple[Split | ServerRange, SchemaHistory]], version: SchemaVersion | None
) -> list[InputPartition]:
    """Return a partition for each part."""
    return [RangePartition(part, _packed(history), version) for part, history in parts]


def reader_of(partition: RangePartition) -> LogReader:
    """Return what reads a partition. Readers add to a history, so each gets a copy of its own."""
    history = _unpacked(partition.history)
    from binspark.files.splits import Split

    if isinstance(partition.part, Split):
        from binspark.files.split_reader import SplitReader

        return SplitReader(history)
    from binspark.spark.streaming.range_reader import RangeReader

    return RangeReader(SchemaHistory(history.catalog, lower_case_names=history.lower_case_names))


@lru_cache(maxsize=_HISTORIES)
def _packed(history: SchemaHistory) -> bytes:
    return zlib.compress(pickle.dumps(history), 1)


@lru_cache(maxsize=_HISTORIES)
def _unpacked(packed: bytes) -> SchemaHistory:
    history: SchemaHistory = pickle.loads(zlib.decompress(packed))  # noqa: S301 (the driver made it)
    return history
