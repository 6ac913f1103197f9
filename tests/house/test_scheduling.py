"""How tests are distributed to processes: each runs once, and those that share something costly in one process."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from types import SimpleNamespace

from tests.support.scheduling import SHARED_FIXTURES, SHARED_PROCESSES, ByProcess

ROOT = Path(__file__).parents[2]
SHARED = [f"{SHARED_FIXTURES[0]}::test_{number}" for number in range(7)]
SPARK = [f"tests/spark/test_{number}.py::test" for number in range(20)]
ALONE = [f"tests/values/test_values.py::test[{number}]" for number in range(300)]


class Process:
    """A process of the tests, and what it has yet to run."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.waiting: deque[int] = deque()
        self.shutting_down = False

    def send_runtest_some(self, indexes: list[int]) -> None:
        self.waiting.extend(indexes)

    def shutdown(self) -> None:
        self.shutting_down = True


def test_every_test_runs_once_and_shared_ones_in_one_process() -> None:
    names = [*SHARED[:3], *ALONE[:150], *SPARK, *SHARED[3:], *ALONE[150:]]
    processes = [Process("one"), Process("two")]
    option = SimpleNamespace(loadscopereorder=True)
    scheduler = ByProcess(SimpleNamespace(option=option, getvalue=lambda _name: ["popen"] * 2), _Silent())
    for process in processes:
        scheduler.add_node(process)
    for process in processes:
        scheduler.add_node_collection(process, names)
    scheduler.schedule()
    where: dict[str, list[str]] = {}
    while any(process.waiting for process in processes):
        for process in processes:
            if process.waiting:
                index = process.waiting.popleft()
                where.setdefault(names[index], []).append(process.gateway.id)
                scheduler.mark_test_complete(process, index)
                assert sum(map(len, scheduler.assigned_work[process].values())) <= len(SPARK) + 2
    assert {name: len(ran) for name, ran in where.items()} == dict.fromkeys(names, 1)
    for group in (SHARED, SPARK):
        assert len({where[name][0] for name in group}) == 1
    assert len({where[name][0] for name in ALONE}) == 2
    assert scheduler.tests_finished


class _Silent:
    """A log that nobody reads."""

    def __getattr__(self, _name: str) -> _Silent:
        return self

    def __call__(self, *_words: object) -> None:
        pass


def test_what_shares_a_process_exists() -> None:
    assert [path for path in SHARED_FIXTURES if not (ROOT / path).is_file()] == []
    assert [start for start in SHARED_PROCESSES if not list(ROOT.glob(f"{start}*"))] == []
