"""Where changes come from: the logs of a live server, an archive, or log files."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from binspark.columns.seen import unmatched_names
from binspark.columns.selection import Selection
from binspark.errors import OptionError
from binspark.files.sources import find_logs
from binspark.files.storage.options import Storage, with_default_keyring
from binspark.mirror.source.identity import (
    Identified,
    logs_continue,
    logs_identity,
    require_same_logs,
    server_continues,
    server_identity,
)
from binspark.mirror.source.stored_texts import StoredTexts
from binspark.options.values import is_pattern
from binspark.replication.activity import Activity
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog, affected_tables
from binspark.schema.changes import Change, DropDatabase, LoggedRows, RolledBackRows, TruncateTable
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig
from binspark.spark.options import SourceOptions
from binspark.spark.streaming.limit import Limit
from binspark.spark.streaming.part_reader import packed_history
from binspark.spark.streaming.reported import Reported
from binspark.spark.streaming.statements import Statement

if TYPE_CHECKING:
    from binspark.files.splits import Split
    from binspark.spark.streaming.range_reader import ServerRange


log = logging.getLogger("binspark.mirror")
_PACKED = 2


@dataclass(frozen=True, slots=True)
class TablePatterns:
    """Which tables are mirrored: names or patterns such as `shop.*`, and those that are not."""

    tables: frozenset[str]
    excluded: frozenset[str] = frozenset()

    def wants(self, name: TableName) -> bool:
        """Return whether a table is mirrored."""
        return Selection(tables=self.tables, excluded=self.excluded).wants(str(name))

    def no_table(self) -> OptionError:
        """Return the error of a mirror that has no table."""
        expected = "must match a table that the server has, and that its user may see (GRANT SELECT)"
        return OptionError(f"{expected}, got {', '.join(sorted(self.tables))}", option="tables")

    def warn_of_unmatched(self, known: Iterable[TableName]) -> None:
        """Warn of names and patterns that no table of the server matches: it may be created later, or misspelt."""
        names = sorted(map(str, known))
        for pattern, hint in unmatched_names(self.tables, names):
            log.warning("no table that the user sees matches %s%s", pattern, hint)

    def wants_of(self, schema: str) -> bool:
        """Return whether tables of a database may be mirrored, whatever the case of its name means."""
        return any(fnmatchcase(schema.lower(), pattern.lower().split(".", 1)[0]) for pattern in self.tables)

    def concerns(self, change: Change) -> bool:
        """Return whether a statement may define, empty or drop a mirrored table, whatever the case of its name means.

        What a statement changes that was logged without its rows is found later.
        """
        if isinstance(change, DropDatabase):
            return self.wants_of(change.name)
        if isinstance(change, LoggedRows) or (isinstance(change, RolledBackRows) and change.names is None):
            return True
        names = (change.name,) if isinstance(change, TruncateTable) else affected_tables(change)
        return any(self.wants(name) or self._wants_lower(name) for name in names)

    def ends_range(self, change: Change, stored: StoredTexts) -> bool:
        """Return whether a range of the log ends after a statement: if it may concern a mirrored table."""
        schemas = [pattern.split(".", 1)[0] for pattern in self.tables]
        if isinstance(change, LoggedRows) and not any(map(is_pattern, schemas)):
            return stored.may_reach(change, schemas)
        return self.concerns(change)

    def _wants_lower(self, name: TableName) -> bool:
        patterns = frozenset(pattern.lower() for pattern in self.tables)
        return Selection(tables=patterns).wants(str(name).lower())


@dataclass(frozen=True, slots=True)
class ReadTask:
    """A part of the logs to read, and the schemas of tables before it. It is sent to executors.

    logged       the schemas that the log has before it, where those of mirrored tables are of later positions; empty if
                 not
    read_again   records of rows that the server has changed without logging it: they are read from there
    """

    part: Split | ServerRange
    history: bytes = field(repr=False)
    logged: bytes = field(default=b"", repr=False)
    read_again: Mapping[TableName, pa.RecordBatch] = field(default_factory=dict, repr=False)


class ChangeSource(Identified, Protocol):
    """A sequence of transactions. The same range gives the same changes, whenever it is read."""

    @property
    def config(self) -> ConnectionConfig | None:
        """How the server is reached that has the tables; None if only logs are there."""
        ...

    @property
    def activity(self) -> Activity | None:
        """Counts what is read of the server; None if logs are read."""
        ...

    def start(self, text: str) -> BinlogPosition:
        """Return the position that a user means: earliest, latest, FILE:POSITION, and of a server more."""
        ...

    def require_continued(self, position: BinlogPosition) -> None:
        """Raise an error if the log no longer continues at a position, because its logs were replaced by others."""
        ...

    def head(self) -> BinlogPosition:
        """Return where the log ends now."""
        ...

    def latest(self, start: BinlogPosition, limit: Limit, target: BinlogPosition | None) -> BinlogPosition:
        """Return where the next range ends: not after a target, and after a statement about a mirrored table."""
        ...

    def bytes_between(self, start: BinlogPosition, end: BinlogPosition) -> int | None:
        """Return how many bytes of the log are in a range, over all its files; None if that is not known."""
        ...

    def statements(self, start: BinlogPosition, end: BinlogPosition) -> Sequence[Statement]:
        """Return the statements of a range that define or empty tables."""
        ...

    def tasks(self, start: BinlogPosition, end: BinlogPosition, catalog: Catalog) -> list[ReadTask]:
        """Return the parts of a range; `catalog` has the tables at its start. Another catalog is another object."""
        ...

    def reported(self, ended: BinlogPosition | None) -> Reported | None:
        """Return where the log ends, and how much of it comes after a position."""
        ...

    def stop(self) -> None:
        """End the connections."""
        ...


class ServerChanges:
    """The changes of a live server."""

    def __init__(self, config: ConnectionConfig, patterns: TablePatterns) -> None:
        from binspark.spark.streaming.server import ServerSource

        self.config: ConnectionConfig | None = config
        selection = Selection(tables=patterns.tables, excluded=patterns.excluded)
        ends_range = partial(patterns.ends_range, stored=StoredTexts(config))
        self._followed = ServerSource(SourceOptions(selection=selection), ends_range, config)
        self.activity: Activity | None = self._followed.activity
        self.start = self._followed.start
        self.head = self._followed.head
        self.latest = self._followed.latest
        self.bytes_between = self._followed.bytes_between
        self.statements = self._followed.statements
        self.reported = self._followed.reported
        self.stop = self._followed.stop
        self._packed: deque[tuple[Catalog, bytes]] = deque(maxlen=_PACKED)

    def identity(self) -> str:
        """Return the name that a mirror of this server has by default."""
        assert self.config is not None
        return server_identity(self.config)

    def continues(self, position: BinlogPosition) -> bool:
        """Return whether the server has all transactions before a position."""
        assert self.config is not None
        return server_continues(self.config, position)

    def require_continued(self, position: BinlogPosition) -> None:
        """Raise an error if the logs of the server were reset after a position."""
        assert self.config is not None
        require_same_logs(self.config, position)

    def tasks(self, start: BinlogPosition, end: BinlogPosition, catalog: Catalog) -> list[ReadTask]:
        """Return a range as one part: transactions come over a connection one after the other."""
        known = next((each for each in self._packed if each[0] is catalog), None)
        if known is None:
            known = catalog, packed_history(SchemaHistory(catalog))
        else:
            self._packed.remove(known)
        self._packed.append(known)
        return [ReadTask(part, known[1]) for part in self._followed.ranges(start, end)]


class ArchiveChanges:
    """The changes in an archive or in log files. `config` is that of the server that wrote them, for snapshots."""

    def __init__(
        self,
        paths: tuple[str, ...],
        patterns: TablePatterns,
        storage: Storage | None = None,
        config: ConnectionConfig | None = None,
    ) -> None:
        from binspark.spark.streaming.archive import ArchiveSource

        self.config = config
        storage = with_default_keyring(storage)
        options = {name: str(value) for name, value in storage.options}
        self._options = SourceOptions(paths=paths, storage=options, keyring=storage.keyring)
        self._logs = ArchiveSource(self._options, partial(patterns.ends_range, stored=StoredTexts(config)))
        self.activity: Activity | None = None
        self.head = self._logs.head
        self.latest = self._logs.latest
        self.bytes_between = self._logs.bytes_between
        self.statements = self._logs.statements
        self.reported = self._logs.reported
        self.stop = self._logs.stop

    def start(self, text: str) -> BinlogPosition:
        """Return the position that the option `start` means."""
        try:
            return self._logs.start(text)
        except OptionError as error:
            expected = "must be earliest, latest or FILE:POSITION in logs"
            raise OptionError(f"{expected}, got {text!r}", error.position, "start") from None

    def require_continued(self, position: BinlogPosition) -> None:
        """Do nothing: what archives lack is an error where it is read."""

    def tasks(self, start: BinlogPosition, end: BinlogPosition, catalog: Catalog) -> list[ReadTask]:
        """Return the splits of a range."""
        parts = self._logs.parts(start, end, catalog)
        return [ReadTask(part, packed_history(history)) for part, history in parts]

    def identity(self) -> str:
        """Return the name that a mirror of these logs has by default."""
        return logs_identity(find_logs(self._options.paths, self._options.file_storage))

    def continues(self, position: BinlogPosition) -> bool:
        """Return whether these are the logs of the server of a position."""
        return logs_continue(find_logs(self._options.paths, self._options.file_storage), position)
