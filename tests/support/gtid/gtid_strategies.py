"""Small worlds of GTIDs in which random sets meet often, and their models: Python sets of (uuid, tag, number)."""

from __future__ import annotations

from hypothesis import strategies as st

from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbPosition, MariadbState

UUIDS = (
    "00000000-0000-0000-0000-00000000000a",
    "b8ae2fd2-3005-11f0-8be8-0242ac150002",
    "b8ae2fd2-3005-11f0-8be8-0242ac150003",
)
TAGS = ("", "_", "a", "a0", "nightly")

Model = frozenset[tuple[str, str, int]]
"""A GTID set as Python's own set of (uuid, tag, number)."""

gtids = st.builds(Gtid, uuid=st.sampled_from(UUIDS), number=st.integers(1, 24), tag=st.sampled_from(TAGS))
models = st.frozensets(st.tuples(st.sampled_from(UUIDS[:2]), st.sampled_from(TAGS[:3]), st.integers(1, 12)))
gtid_sets = st.frozensets(gtids, max_size=40).map(GtidSet.of)

fragments = st.sampled_from(
    (
        *UUIDS[:2],
        UUIDS[1].upper(),
        UUIDS[1].replace("-", ""),
        "{" + UUIDS[1] + "}",
        *":::::----,,  \n\t_0{}x+",
        "1",
        "3",
        "07",
        "12",
        "5-9",
        "9-5",
        "tag",
        "T_1",
        "a" * 32,
        "9223372036854775806",
        "9223372036854775807",
    )
)
set_like_texts = st.lists(fragments, max_size=10).map("".join) | st.lists(fragments, max_size=8).map(
    lambda listed: UUIDS[1] + "".join(f":{fragment}" for fragment in listed)
)

mariadb_gtids = st.builds(MariadbGtid, st.integers(0, 2), st.integers(1, 3), st.integers(0, 9))
positions = st.dictionaries(st.integers(0, 2), st.tuples(st.integers(1, 3), st.integers(0, 9))).map(
    lambda domains: MariadbPosition.of(MariadbGtid(domain, *rest) for domain, rest in domains.items())
)
states = st.lists(mariadb_gtids, max_size=8).map(MariadbState.of)


def from_model(model: frozenset[tuple[str, str, int]]) -> GtidSet:
    """Return the set of a model."""
    return GtidSet.of(Gtid(uuid, number, tag) for uuid, tag, number in model)


def to_model(gtid_set: GtidSet) -> frozenset[tuple[str, str, int]]:
    """Return the model of a set."""
    return frozenset((gtid.uuid, gtid.tag, gtid.number) for gtid in gtid_set)
