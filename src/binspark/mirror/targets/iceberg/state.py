"""What an Iceberg table says of the mirror: its state, and what other programs committed after it.

The state is in the summary of each snapshot of the mirror. So it fits the rows also if somebody rolls the table back.
If other programs have expired the mirror's last snapshot, the state is found in the table's properties. The definition
of the source's table is long and changes rarely: a summary only has its hash, and a property has the text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation, Snapshot

from binspark.errors import SchemaError
from binspark.mirror.state import TableState

STATE = "binspark.state"
_DEFINITION = "binspark.definition."
_HASH_LENGTH = 16


def summary_of(state: TableState) -> dict[str, str]:
    """Return what the summary of a snapshot has of a state."""
    return {STATE: replace(state, definition=_hash(state.definition)).to_json()}


def properties_of(state: TableState) -> dict[str, str]:
    """Return what the properties of a table have of a state."""
    return {STATE: state.to_json(), f"{_DEFINITION}{_hash(state.definition)}": state.definition}


def unused_definitions(metadata: TableMetadata) -> list[str]:
    """Return the properties with definitions that no snapshot needs any more."""
    summaries = [text for snapshot in metadata.snapshots if (text := _summary(snapshot))]
    used = {f"{_DEFINITION}{TableState.from_json(text).definition}" for text in summaries}
    if STATE in metadata.properties:
        used.add(f"{_DEFINITION}{_hash(TableState.from_json(metadata.properties[STATE]).definition)}")
    return [name for name in metadata.properties if name.startswith(_DEFINITION) and name not in used]


def read_state(metadata: TableMetadata, snapshot: Snapshot | None) -> TableState | None:
    """Return the state as of a snapshot; None if no mirror writes the table."""
    for ancestor in ancestors(metadata, snapshot):
        if text := _summary(ancestor):
            return _with_definition(TableState.from_json(text), metadata)
    text = metadata.properties.get(STATE)
    return TableState.from_json(text) if text else None


def foreign_commits(metadata: TableMetadata, snapshot: Snapshot | None) -> Iterator[str]:
    """Yield a description of each commit after the mirror's that changed rows or columns."""
    own: Snapshot | None = None
    found: list[str] = []
    for ancestor in ancestors(metadata, snapshot):
        if _summary(ancestor):
            own = ancestor
            break
        if ancestor.summary is None or ancestor.summary.operation is not Operation.REPLACE:
            found.append(_describe(ancestor))
    yield from reversed(found)
    if own is not None and metadata.current_snapshot() == snapshot and own.schema_id != metadata.current_schema_id:
        yield f"schema {metadata.current_schema_id}: columns changed after snapshot {own.snapshot_id}"


def ancestors(metadata: TableMetadata, snapshot: Snapshot | None) -> Iterator[Snapshot]:
    """Yield a snapshot and those before it, as far as they were not expired."""
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parent_snapshot_id
        snapshot = None if parent is None else metadata.snapshot_by_id(parent)


def _summary(snapshot: Snapshot) -> str | None:
    return snapshot.summary.additional_properties.get(STATE) if snapshot.summary else None


def _with_definition(state: TableState, metadata: TableMetadata) -> TableState:
    text = metadata.properties.get(f"{_DEFINITION}{state.definition}")
    if text is None:
        raise SchemaError(f"the property {_DEFINITION}{state.definition} of the table is missing")
    return replace(state, definition=text)


def _describe(snapshot: Snapshot) -> str:
    summary = snapshot.summary
    operation = summary.operation.value if summary else "unknown operation"
    by = (summary.additional_properties.get("engine-name") if summary else None) or "an unknown program"
    return f"snapshot {snapshot.snapshot_id}: {operation} by {by}"


def _hash(definition: str) -> str:
    return hashlib.sha256(definition.encode()).hexdigest()[:_HASH_LENGTH]
