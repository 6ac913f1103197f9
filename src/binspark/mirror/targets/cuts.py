"""Consistent cuts as rows of a table."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pyarrow as pa

from binspark.mirror.targets.commits import other_mirror
from binspark.mirror.targets.target import Cut, TargetError
from binspark.position import Position
from binspark.schema.table import TableName

CUT_TABLE = "_binspark"
FILES_TO_JOIN = 100
"""How many small files the table of cuts has before they are joined."""

FREQUENT_SECONDS = 3600
"""For how long every version is kept where each one has its price."""

_MICROSECONDS = 1_000_000
_VERSION = pa.struct([pa.field("schema", pa.string()), pa.field("table", pa.string()), pa.field("version", pa.int64())])
CUT_SCHEMA = pa.schema(
    [
        pa.field("number", pa.int64()),
        pa.field("mirror", pa.string()),
        pa.field("position", pa.string()),
        pa.field("gtids", pa.string()),
        pa.field("time", pa.timestamp("us", tz="UTC")),
        pa.field("versions", pa.list_(_VERSION)),
    ]
)


def cut_rows(cut: Cut) -> pa.Table:
    """Return a cut as a row."""
    versions = [{"schema": name.schema, "table": name.table, "version": version} for name, version in cut.versions]
    values: list[object] = [cut.number, cut.mirror, cut.position, cut.gtids, cut.time_us, versions]
    return pa.table(
        [pa.array([value], field.type) for value, field in zip(values, CUT_SCHEMA, strict=True)], CUT_SCHEMA
    )


def cuts_of_rows(rows: pa.Table) -> list[Cut]:
    """Return the cuts of rows, the oldest first."""
    rows = rows.set_column(rows.schema.get_field_index("time"), "time", rows["time"].cast(pa.int64()))
    return sorted(map(_cut, rows.to_pylist()), key=lambda cut: cut.number)


def _cut(row: dict[str, object]) -> Cut:
    versions = row["versions"]
    assert isinstance(versions, Iterable)
    return Cut(
        number=int(str(row["number"])),
        position=str(row["position"]),
        gtids=str(row["gtids"]),
        time_us=int(str(row["time"])),
        versions=tuple((TableName(each["schema"], each["table"]), each["version"]) for each in versions),
        mirror=str(row["mirror"]),
    )


def check_cut(cut: Cut, last: Cut | None, address: str) -> None:
    """Refuse a cut that does not come after the last one, or that another mirror writes."""
    if last is None:
        return
    if last.mirror != cut.mirror:
        raise other_mirror(last.mirror, cut.mirror, address)
    if cut.number <= last.number:
        message = (
            f"cut {cut.number} was expected to follow cut {last.number}: another process of this mirror is running"
        )
        raise TargetError(message, Position(file=address))


def kept_cuts(cuts: list[Cut], retention_seconds: float) -> list[Cut]:
    """Return the cuts that are not older than this, and the newest one."""
    oldest = (time.time() - retention_seconds) * _MICROSECONDS
    return [*(cut for cut in cuts[:-1] if cut.time_us >= oldest), *cuts[-1:]]


def hourly_cuts(cuts: list[Cut]) -> list[Cut]:
    """Return the last cut of each hour, and all cuts of the last hour."""
    recent = (time.time() - FREQUENT_SECONDS) * _MICROSECONDS
    last_of_hour = {cut.time_us // (FREQUENT_SECONDS * _MICROSECONDS): cut for cut in cuts}
    kept = {cut.number for cut in last_of_hour.values()}
    return [cut for cut in cuts if cut.number in kept or cut.time_us >= recent]
