"""The stream of the data source: offsets on the driver, ranges on executors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from binspark.errors import SourceError
from binspark.files.schema_file import log_doubtful_table
from binspark.replication.position import BinlogPosition
from binspark.spark.batch import make_view
from binspark.spark.options import SourceOptions
from binspark.spark.pickling import packed
from binspark.spark.plan import SchemaVersion
from binspark.spark.streaming.part_reader import reader_of
from binspark.spark.streaming.ranges import RangePartition, partitions_of

if TYPE_CHECKING:
    from binspark.spark.streaming.archive import ArchiveSource
    from binspark.spark.streaming.limit import Limit
    from binspark.spark.streaming.monitor import StreamMonitor
    from binspark.spark.streaming.server import ServerSource


_NO_BYTES_LIMIT = 1 << 62

_OF_THE_DRIVER = ("_follows", "_target", "_ended", "_monitor")
"""What only the process on the driver has."""

UNRESOLVED: dict[str, Any] = {**dict.fromkeys(BinlogPosition("", 0).to_json()), "v": 1}
"""The offset at which every stream begins: a constant, because Spark requests it several times. What it means is
decided once, when Spark requests the first latest offset, which it stores in the checkpoint before it is used.
"""


def parse_offset(kept: dict[str, Any]) -> BinlogPosition | None:
    """Return the position of an offset that Spark has stored, None for the one at which every stream begins."""
    is_unresolved = kept.get("v") == UNRESOLVED["v"] and kept.get("file") is None
    return None if is_unresolved else BinlogPosition.from_json(kept)


class BinlogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows a server or an archive. The same range gives the same rows, wherever and whenever it is read.

    It does not depend on `commit` or `stop`: Spark may call neither.
    """

    def __init__(self, options: SourceOptions, schema: StructType, version: SchemaVersion | None) -> None:
        self._options = options
        self._schema = schema
        self._version = version
        self._follows: ArchiveSource | ServerSource | None = None
        self._target: BinlogPosition | None = None
        self._ended: BinlogPosition | None = None
        self._monitor: StreamMonitor | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return packed(self, {**self.__dict__, **dict.fromkeys(_OF_THE_DRIVER)})

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """Return where every stream begins: a constant."""
        return UNRESOLVED

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return how much a batch takes by default."""
        options = self._options
        if options.max_bytes_per_trigger is None and options.max_transactions_per_trigger is None:
            return ReadAllAvailable()
        return ReadMaxBytes(options.max_bytes_per_trigger or _NO_BYTES_LIMIT)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Read what is there now, and no more."""
        self._target = self._followed.head()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Return where the next batch ends. The first time, that is where the stream begins."""
        begun = parse_offset(start)
        if begun is None:
            found = self._followed.start(self._options.starting_offsets or "latest")
        else:
            found = self._followed.latest(begun, self._limit(limit), self._target)
            self._check_order(begun, found)
        self._ended = found
        if self._monitor is not None:
            self._monitor.planned(found)
        return found.to_json()

    def _limit(self, limit: ReadLimit) -> Limit:
        from binspark.spark.streaming.limit import Limit

        if not isinstance(limit, ReadMaxBytes):
            return Limit()
        bytes_ = None if limit.max_bytes == _NO_BYTES_LIMIT else limit.max_bytes
        return Limit(bytes_, self._options.max_transactions_per_trigger)

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        """Return where the source is, and how much of it comes after the batch that was planned last."""
        reported = self._followed.reported(self._ended)
        if self._monitor is not None:
            self._monitor.observe(reported)
        return None if reported is None else reported.to_json()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Return the parts of a range."""
        begin, stop = parse_offset(start), parse_offset(end)
        if begin is None or stop is None or begin == stop:
            return []
        self._check_order(begin, stop)
        parts = self._followed.parts(begin, stop)
        return partitions_of(parts, self._followed.version(self._version))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part of a range."""
        if not isinstance(partition, RangePartition):
            return iter(())
        self._options.begin_reading()
        view = make_view(self._options, self._schema, partition.version)
        return view.read(partition.part, reader_of(partition.part, partition.history, log_doubtful_table))

    def stop(self) -> None:
        """Stop the thread on the driver."""
        if self._follows is not None:
            self._follows.stop()
        if self._monitor is not None:
            self._monitor.close()
            self._monitor = None

    @property
    def _followed(self) -> ArchiveSource | ServerSource:
        if self._follows is None:
            self._follows = _follow(self._options)
            self._monitor = _monitor(self._options, self._follows)
        return self._follows

    def _check_order(self, start: BinlogPosition, end: BinlogPosition) -> None:
        if end.is_before(start):
            message = f"the stream is at {start.describe()}, but its source only at {end.describe()}: was it reset?"
            raise SourceError(f"{message} Use a new checkpoint to start again", end.error_position)


def _follow(options: SourceOptions) -> ArchiveSource | ServerSource:
    if options.is_live:
        from binspark.spark.streaming.server import ServerSource

        return ServerSource(options)
    from binspark.spark.streaming.archive import ArchiveSource

    return ArchiveSource(options)


def _monitor(options: SourceOptions, followed: ArchiveSource | ServerSource) -> StreamMonitor | None:
    if options.metrics is None:
        return None
    from binspark.spark.streaming.monitor import StreamMonitor

    return StreamMonitor(options.metrics, followed.activity)
