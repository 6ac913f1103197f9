"""Changes are read and files written by the executors of Spark."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from binspark.errors import BinlogError
from binspark.frames.payload import max_payload_bytes, set_max_payload_bytes
from binspark.kernels import cache
from binspark.mirror.leaves import Rewritten
from binspark.mirror.runners.local import LocalRunner
from binspark.mirror.runners.runner import MOVES, Result, Routed, TableWork, TaskResult, read_changes
from binspark.mirror.source.change_source import ReadTask
from binspark.spark.failures import binlog_error, lost_worker
from binspark.spark.workers import register

_ROUTED = pa.schema([("table", pa.int32()), ("task", pa.int32()), ("records", pa.binary())])
_DONE = pa.schema([("number", pa.int64()), ("result", pa.binary())])
_RESULT = pa.schema([("result", pa.binary())])
_MAX_RECORDS_BYTES = 4 << 20
"""About how large a row of the shuffle is: records of one task as an Arrow stream."""

_MAX_READERS = 32
"""How many chunks of a table are copied at a time, however many cores there are: each is a thread of the driver."""

_SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "4", "spark.sql.adaptive.enabled": "false"}


class SparkRunner:
    """Reads each part of a range in a task of Spark, brings the changes of each range of keys together, and writes."""

    def __init__(self, spark: SparkSession) -> None:
        register(spark)
        self._spark = spark.newSession()
        for name, value in _SETTINGS.items():
            self._spark.conf.set(name, value)

    def run(self, parts: Sequence[ReadTask], tables: Sequence[TableWork]) -> list[TaskResult]:
        """Read parts of the log and write new files. Tasks without changes have no result."""
        if not parts or not tables:
            return []
        tasks = sum(len(work.tasks) for work in tables)
        partitions = max(1, min(tasks, 4 * self._spark.sparkContext.defaultParallelism))
        job = _Job(pickle.dumps((list(parts), list(tables))))
        routed = self._spark.range(0, len(parts), numPartitions=len(parts)).mapInArrow(
            job.read, "table int, task int, records binary"
        )
        by_task = routed.repartition(partitions, "table", "task").groupBy("table", "task")
        rows = _collected(by_task.applyInArrow(job.write, "result binary"))
        results: list[TaskResult] = [pickle.loads(row.result) for row in rows]  # noqa: S301 (an executor made it)
        with_moves = {result.table for result in results if result.task == MOVES}
        if not with_moves:
            return results
        moved = partial(LocalRunner().run, parts, [work for work in tables if work.number in with_moves])
        again = self.each([moved], "rows that moved to other keys")[0]
        return [*(result for result in results if result.table not in with_moves), *again]

    @property
    def readers(self) -> int:
        """How many chunks of a table are copied at a time: as many as Spark has cores."""
        return max(1, min(_MAX_READERS, self._spark.sparkContext.defaultParallelism))

    def each(self, jobs: Sequence[Callable[[], Result]], description: str) -> list[Result]:
        """Return the results of jobs, each of which is a task of one job of Spark."""
        self._spark.sparkContext.setJobDescription(f"binspark mirror: {description}")
        calls = _Calls([pickle.dumps(job) for job in jobs])
        tasks = self._spark.range(0, len(jobs), numPartitions=max(1, len(jobs)))
        rows = _collected(tasks.mapInArrow(calls, "number long, result binary"))
        results: dict[int, Result | BinlogError] = {
            row.number: pickle.loads(row.result)  # noqa: S301 (an executor made it)
            for row in rows
        }
        return [_succeeded(results[number]) for number in range(len(jobs))]


def _succeeded(result: Result | BinlogError) -> Result:
    if isinstance(result, BinlogError):
        raise result
    return result


def _collected(results: DataFrame) -> list[Row]:
    """Run a job. What executors wrote before it failed is in no version of a table."""
    try:
        return results.collect()
    except (PySparkException, Py4JError) as error:
        raise binlog_error(error) or lost_worker(error) or error from None


class _Calls:
    """What executors get: jobs, each as bytes."""

    def __init__(self, packed: list[bytes]) -> None:
        self._packed = packed
        self._max_payload_bytes = max_payload_bytes()

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do the jobs with these numbers."""
        cache.enable()
        set_max_payload_bytes(self._max_payload_bytes)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                done = pickle.dumps(self._done(number))
                arrays = [pa.array([number], pa.int64()), pa.array([done], pa.binary())]
                yield pa.RecordBatch.from_arrays(arrays, schema=_DONE)

    def _done(self, number: int) -> object:
        """Return the result of a job. Errors of ours are results, so that the driver gets them as they are."""
        job: Callable[[], object] = pickle.loads(self._packed[number])  # noqa: S301 (the driver made it)
        try:
            return job()
        except BinlogError as error:
            return error


class _Job:
    """What executors get: the parts to read, and the tables to write."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._max_payload_bytes = max_payload_bytes()

    def read(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the parts with these numbers."""
        set_max_payload_bytes(self._max_payload_bytes)
        parts, tables = self._unpacked()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for routed in read_changes([parts[number]], tables):
                    yield from _packed_records(routed)

    @property
    def write(self) -> Any:
        """The function that writes the changes of one task. By its types Spark knows that it takes batches."""

        def write(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            table, task = (part.as_py() for part in key)
            yield _result_row(self._written(table, task, batches))

        return write

    def _written(self, table: int, task: int, batches: Iterator[pa.RecordBatch]) -> TaskResult:
        if task == MOVES:
            return TaskResult(table, task, Rewritten((), ()), 0)
        _, tables = self._unpacked()
        work = next(work for work in tables if work.number == table)
        counted = _Counted(batches)
        written = work.rewrite(task, counted)
        return TaskResult(table, task, written, counted.records)

    def _unpacked(self) -> tuple[list[ReadTask], list[TableWork]]:
        parts, tables = pickle.loads(self._packed)  # noqa: S301 (the driver made it)
        return parts, tables


class _Counted:
    """The records of a task, counted."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self.records = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            for packed in batch.column("records"):
                if packed.is_valid:
                    with pa.ipc.open_stream(packed.as_buffer()) as stream:
                        for records in stream:
                            self.records += records.num_rows
                            yield records


def _packed_records(routed: Routed) -> Iterator[pa.RecordBatch]:
    """Yield rows of the shuffle with the records of a task."""
    records = routed.records
    if records is None:
        yield _routed_row(routed, None)
        return
    step = max(1, records.num_rows * _MAX_RECORDS_BYTES // max(records.nbytes, _MAX_RECORDS_BYTES))
    for begin in range(0, records.num_rows, step):
        part = records.slice(begin, step)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, part.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_batch(part)
        yield _routed_row(routed, sink.getvalue().to_pybytes())


def _result_row(result: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(result)], pa.binary())], schema=_RESULT)


def _routed_row(routed: Routed, records: bytes | None) -> pa.RecordBatch:
    values = ([routed.table], [routed.task], [records])
    return pa.RecordBatch.from_arrays(
        [pa.array(value, field.type) for value, field in zip(values, _ROUTED, strict=True)], schema=_ROUTED
    )
