"""Which process of pytest-xdist runs which test: one by one, but tests that share something costly together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

SHARED_PROCESSES = {
    "tests/spark/test_spark_clusters.py": "clusters",
    "tests/spark/test_stream_": "spark for streams",
    "tests/spark/": "spark",
    "tests/documents/test_variant_spark.py": "spark",
    "tests/mirror/test_mirror_delta_": "spark with the jar of Delta",
}
"""Tests that share something costly, one Spark, run in one process: how their names begin, and its name."""

SHARED_FIXTURES = (
    "tests/cli/test_mirror_check.py",
    "tests/encryption/test_encrypted_servers.py",
    "tests/explore/test_page.py",
    "tests/house/test_api_reference.py",
    "tests/mirror/targets/test_rest_catalog.py",
    "tests/mirror/targets/test_stores.py",
    "tests/replication/test_stream_checksums.py",
    "tests/replication/test_stream_encryption.py",
    "tests/replication/test_stream_starts.py",
    "tests/schema/test_schema_lower_case_servers.py",
    "tests/values/test_charsets_servers.py",
)
"""Files whose tests share a server, a browser or the like: each file runs in one process, which makes it once."""


class Names(list[str]):
    """The names of the tests, each found without a search: xdist looks up every test that it sends."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self._indexes = {name: index for index, name in enumerate(names)}

    def index(self, name: str, *_range: SupportsIndex) -> int:
        return self._indexes[name]


class ByProcess(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Distributes tests one by one, but those of a shared process together.

    The marks for xdist's own `loadgroup` do not reach it: this pytest no longer keeps names where it writes them.

    xdist counts the tests that a process has yet to run over all tests that it ever got, whenever a test ends, and
    searches the list of all names for the next one. With twenty thousand tests that takes longer than most of them:
    what has ended is forgotten here.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        alone = file if file in SHARED_FIXTURES else nodeid
        return next((name for start, name in SHARED_PROCESSES.items() if file.startswith(start)), alone)

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """Add the names of the tests that a process has found."""
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = Names(collection)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Send the next test when one has ended."""
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        sent: dict[str, dict[str, bool]] = self.assigned_work[node]
        if all(sent[scope].values()):
            del sent[scope]
