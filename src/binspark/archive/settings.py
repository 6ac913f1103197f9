"""How a server is archived: values only."""

from __future__ import annotations

from dataclasses import dataclass, field

from binspark.archive.retention import Retention
from binspark.errors import OptionError
from binspark.monitoring.settings import MetricsSettings
from binspark.replication.position import BinlogPosition
from binspark.replication.settings import StreamSettings
from binspark.replication.start import Start, parse_start
from binspark.server.retry import Retry


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """How a server is archived.

    start             where a new archive begins: earliest, latest, a file, timestamp:…; one that exists is continued
    until_end         copy what is there, and end
    stream            how the stream is requested
    retry             how often to connect again once a connection was lost
    keep              how much is kept
    sync_seconds      how long what was copied may not be on disk yet
    sync_bytes        how much of it
    progress_seconds  how often `on_progress` is called; 0 for never
    upload_seconds    how often the active log is uploaded to a remote store
    metrics           where metrics are served; None for nowhere
    """

    start: str = "earliest"
    until_end: bool = False
    stream: StreamSettings = field(default_factory=StreamSettings)
    retry: Retry = field(default_factory=lambda: Retry(limit=None))
    keep: Retention = field(default_factory=Retention)
    sync_seconds: float = 1.0
    sync_bytes: int = 64 << 20
    progress_seconds: float = 10.0
    upload_seconds: float = 60.0
    metrics: MetricsSettings | None = None

    def __post_init__(self) -> None:
        start = self.start_from
        if isinstance(start, BinlogPosition) and not start.by_file:
            problem = f"must be earliest, latest, a file or a time for an archive, got GTIDs: {self.start}"
            raise OptionError(problem, option="start")
        if self.sync_seconds < 0:
            raise OptionError(f"must be 0 or more, got {self.sync_seconds}", option="sync_seconds")
        if self.progress_seconds < 0:
            raise OptionError(f"must be 0 or more, got {self.progress_seconds}", option="progress_seconds")
        if not self.upload_seconds > 0:
            raise OptionError(f"must be positive, got {self.upload_seconds}", option="upload_seconds")

    @property
    def start_from(self) -> Start:
        """Where a new archive begins, as a value."""
        return parse_start(self.start)

    @property
    def tick_seconds(self) -> float:
        """How often there is time for other things than copying."""
        return min(0.5, max(0.05, self.sync_seconds))
