"""Positions of any kind, for properties."""

from __future__ import annotations

from hypothesis import strategies as st

from binspark.gtid import GtidSet, MariadbGtid, MariadbPosition
from binspark.replication.position import BinlogPosition

UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
FILES = st.from_regex(r"[a-z][a-z.-]{0,20}\.[0-9]{1,9}", fullmatch=True)
MARIADB_POSITIONS = st.builds(
    lambda domains: MariadbPosition.of(MariadbGtid(domain, 1, number) for domain, number in domains.items()),
    st.dictionaries(st.integers(0, 99), st.integers(1, 1 << 60), min_size=1, max_size=4),
)
GTID_SETS = st.integers(1, 1 << 60).map(lambda number: GtidSet(f"{UUID}:{number}"))
GTIDS = st.one_of(MARIADB_POSITIONS, GTID_SETS)
POSITIONS = st.builds(
    BinlogPosition,
    FILES,
    st.integers(0, 1 << 62),
    st.one_of(st.none(), GTIDS),
    st.text(max_size=40),
    st.integers(0, 1 << 32),
    st.booleans(),
    st.integers(0, 9),
)
