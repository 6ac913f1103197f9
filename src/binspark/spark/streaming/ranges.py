"""Parts of logs on their way to executors: splits of files or ranges of a server's logs, with the schemas there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from binspark.schema.history import SchemaHistory
from binspark.spark.plan import SchemaVersion
from binspark.spark.streaming.part_reader import packed_history

if TYPE_CHECKING:
    from binspark.files.splits import Split
    from binspark.spark.streaming.range_reader import ServerRange


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
    return [RangePartition(part, packed_history(history), version) for part, history in parts]
