"""Which files are rewritten together: the range of keys of each task, and the changes that are in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from binspark.mirror.files.data_file import DataFile
from binspark.mirror.leaves.key_order import find, sorted_order
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.records.format import KEY


@dataclass(frozen=True, slots=True)
class RangeTask:
    """A range of keys, and the files with rows in it.

    number     its index among the tasks of a table
    low, high  the first key, and the one after the last; None for no limit
    files      the files that have, or may have, rows of the range
    group      tasks with the same number share files: if one of them is rewritten, all are, and in one commit
    """

    number: int
    low: bytes | None
    high: bytes | None
    files: tuple[DataFile, ...]
    group: int = 0


@dataclass(slots=True)
class _Cluster:
    """Files whose ranges overlap."""

    low: bytes
    high: bytes
    files: list[DataFile]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def plan_tasks(files: Sequence[DataFile], limits: LeafLimits) -> list[RangeTask]:
    """Return tasks for all keys, in their order. The bounds of the files are known (see `with_bounds`).

    Small neighbours are in one task, so that they become one leaf. Files that overlap are in one task, or, if they are
    large, in several that divide their keys.
    """
    tasks: list[RangeTask] = []
    for group, cluster in enumerate(_joined(_clusters(files), limits.leaf_bytes // 2)):
        for low in [cluster.low, *_cuts(cluster, limits.leaf_bytes)]:
            tasks.append(RangeTask(len(tasks), low, None, tuple(cluster.files), group))
    if not tasks:
        return [RangeTask(0, None, None, ())]
    ends = [*(task.low for task in tasks[1:]), None]
    return [
        RangeTask(
            task.number, task.low if task.number else None, high, files_within(task.files, task.low, high), task.group
        )
        for task, high in zip(tasks, ends, strict=True)
    ]


def route(tasks: Sequence[RangeTask], records: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the number of each task that has some of these changes, and its changes, in the order of their keys."""
    order = sorted_order(records.column(KEY))
    if order is not None:
        records = records.take(pa.array(order))
    lows = pa.array([task.low for task in tasks[1:]], pa.binary())
    cuts = [0, *find(lows, records.column(KEY)).indices.tolist(), records.num_rows]
    for task, begin, end in zip(tasks, cuts, cuts[1:], strict=False):
        if begin < end:
            yield task.number, records.slice(begin, end - begin)


def files_within(files: Iterable[DataFile], low: bytes | None, high: bytes | None) -> tuple[DataFile, ...]:
    """Return the files that have, or may have, keys in a range."""
    return tuple(
        file
        for file in files
        if (high is None or file.low is None or file.low < high)
        and (low is None or file.high is None or file.high >= low)
    )


def _clusters(files: Iterable[DataFile]) -> list[_Cluster]:
    bounded = [(file.low, file.high, file) for file in files if file.low is not None and file.high is not None]
    clusters: list[_Cluster] = []
    for low, high, file in sorted(bounded, key=lambda item: (item[0], item[1], item[2].path)):
        if clusters and low <= clusters[-1].high:
            clusters[-1].files.append(file)
            clusters[-1].high = max(clusters[-1].high, high)
        else:
            clusters.append(_Cluster(low, high, [file]))
    return clusters


def _joined(clusters: Iterable[_Cluster], max_bytes: int) -> list[_Cluster]:
    """Return clusters with small neighbours in one.

    Those that are not small stay as they are: leaves that were just divided are more than half as large as they may be,
    and would be joined and divided again.
    """
    joined: list[_Cluster] = []
    for cluster in clusters:
        if joined and joined[-1].size + cluster.size <= max_bytes:
            joined[-1].files += cluster.files
            joined[-1].high = cluster.high
        else:
            joined.append(cluster)
    return joined


def _cuts(cluster: _Cluster, leaf_bytes: int) -> list[bytes]:
    """Return the keys at which files that overlap are divided, about one for each leaf that they will become."""
    if len(cluster.files) == 1 or cluster.size <= 2 * leaf_bytes:
        return []
    weights = sorted((key, file.size // len(file.row_groups)) for file in cluster.files for key in file.row_groups)
    cuts: list[bytes] = []
    gathered, last = 0, cluster.low
    for key, weight in weights:
        if gathered >= leaf_bytes and key > last:
            cuts.append(key)
            gathered, last = 0, key
        gathered += weight
    return cuts
