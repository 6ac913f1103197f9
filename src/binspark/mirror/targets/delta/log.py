"""What the log of a Delta table says of the mirror: its state, and what other programs committed after it.

Each commit of the mirror has the transaction ("binspark", the version after the one it was planned on), which
checkpoints keep. That is its own version, but for a `MERGE` of the JVM while others committed: it is a later one. The
commit has the state in its `commitInfo`. If log clean-up has removed it, the state is in the table's properties, where
the mirror's own clean-up puts it first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from deltalake import CommitProperties, DeltaTable, Schema, Transaction

from binspark.mirror.files.directory import Directory
from binspark.mirror.state import TableState
from binspark.mirror.targets.target import TargetError
from binspark.position import Position

APPLICATION = "binspark"
STATE = "binspark.state"
STATE_VERSION = "binspark.stateVersion"
_LOG = "_delta_log"
_NANOSECONDS = 1_000_000_000
_PARAMETERS = ("predicate", "mode")


def commit_properties(version: int, state: TableState) -> CommitProperties:
    """Return what a commit of the mirror has besides its files. Without retries it has this version, or fails."""
    return CommitProperties(
        custom_metadata={STATE: state.to_json()},
        max_commit_retries=0,
        app_transactions=[Transaction(APPLICATION, version)],
    )


def kept_state(version: int, state: TableState) -> dict[str, str]:
    """Return the properties that keep a state beyond log clean-up, set by the commit with this version."""
    return {STATE: state.to_json(), STATE_VERSION: str(version)}


def user_metadata(state: TableState) -> str:
    """Return the state as the text that a commit of the JVM has in its `commitInfo`."""
    return json.dumps({STATE: state.to_json()}, ensure_ascii=False)


def own_transaction(table: DeltaTable) -> int | None:
    """Return the transaction of the mirror's last commit."""
    return table.transaction_version(APPLICATION)


def is_kept(table: DeltaTable) -> bool:
    """Return whether the newest state of the mirror is in the table's properties."""
    version = table.transaction_version(APPLICATION)
    return table.metadata().configuration.get(STATE_VERSION) == str(version)


def oldest_needed(directory: Directory, time: float) -> float:
    """Return when the commit was made that was the newest one at a time, both in seconds since 1970."""
    from pyarrow.fs import FileSelector

    found = directory.files.get_file_info(FileSelector(directory.path(_LOG)))
    commits = [info.mtime_ns / _NANOSECONDS for info in found if info.path.endswith(".json")]
    return max((made for made in commits if made <= time), default=min(commits, default=time))


def read_state(table: DeltaTable, directory: Directory) -> TableState | None:
    """Return the state that the mirror stored last; None if no mirror writes the table."""
    version = table.transaction_version(APPLICATION)
    if version is None:
        return None
    state = _committed_state(_actions(directory, version) or (), version)
    properties = table.metadata().configuration
    if state is None and properties.get(STATE_VERSION) == str(version):
        state = properties[STATE]
    later = (_actions(directory, number) or () for number in range(version + 1, table.version() + 1))
    state = state or next(filter(None, (_committed_state(actions, version) for actions in later)), None)
    if state is not None:
        return TableState.from_json(state)
    raise TargetError(
        f"the position of the mirror is lost: log clean-up removed version {version} of the table. "
        "Drop the table in the target, and mirror it again",
        Position(file=table.table_uri),
    )


def foreign_commits(table: DeltaTable, directory: Directory, before: Callable[[int], Schema]) -> Iterator[str]:
    """Yield a description of each commit after the mirror's that changed rows or columns.

    `before` returns the columns of a version.
    """
    own = table.transaction_version(APPLICATION)
    if own is None:
        return
    for version in range(own, table.version() + 1):
        actions = _actions(directory, version)
        if (actions is None and version == own) or _is_own(actions or (), own):
            continue
        if actions is None:
            yield f"version {version}: no longer in the log"
        elif any(_changes_rows(each) or _changes_columns(each, version, before) for each in actions):
            yield f"version {version}: {_describe(actions)}"


def _is_own(actions: Iterable[Mapping[str, Any]], number: int) -> bool:
    """Return whether a commit is that of a transaction of the mirror."""
    found = (action["txn"] for action in actions if "txn" in action)
    return any((each["appId"], each["version"]) == (APPLICATION, number) for each in found)


def _committed_state(actions: Collection[Mapping[str, Any]], number: int) -> str | None:
    """Return the state in a commit, if it is that of a transaction of the mirror."""
    if not _is_own(actions, number):
        return None
    for info in (action["commitInfo"] for action in actions if "commitInfo" in action):
        holder = json.loads(info["userMetadata"]) if "userMetadata" in info else info
        if STATE in holder:
            return str(holder[STATE])
    return None


def _actions(directory: Directory, version: int) -> list[dict[str, Any]] | None:
    """Return the actions of a commit; None if it is not in the log any more."""
    try:
        with directory.files.open_input_stream(directory.path(f"{_LOG}/{version:020}.json")) as file:
            content = file.read()
    except FileNotFoundError:
        return None
    return [json.loads(line) for line in bytes(content).splitlines() if line.strip()]


def _changes_rows(action: Mapping[str, Any]) -> bool:
    return any(action.get(kind, {}).get("dataChange", False) for kind in ("add", "remove"))


def _changes_columns(action: Mapping[str, Any], version: int, before: Callable[[int], Schema]) -> bool:
    if "metaData" not in action:
        return False
    return bool(Schema.from_json(action["metaData"]["schemaString"]) != before(version - 1))


def _describe(actions: list[dict[str, Any]]) -> str:
    info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    parameters = info.get("operationParameters") or {}
    details = ", ".join(f"{name} {parameters[name]}" for name in _PARAMETERS if parameters.get(name))
    operation = info.get("operation", "unknown operation")
    by = info.get("engineInfo", "an unknown program")
    return f"{operation} ({details}) by {by}" if details else f"{operation} by {by}"
