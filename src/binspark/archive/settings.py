"""How a server is archived: values only."""

from __future__ import annotations

from dataclasses import dataclass, field

from binspark.archive.retention import Retention
from binspark.client.settings import Retry, StreamSettings
from binspark.client.start import AtGtids, StartFrom, parse_start
from binspark.errors import OptionError


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """How a server is archived.

    start           where a new archive begins: earliest, latest, a file, timestamp:…; one that is there goes on
    stream          how the stream is asked for; `until_end` copies what is there, and ends
    retry           how often to connect again once a connection was lost
    keep            how much is kept
    sync_seconds    how long what was copied may not be on disk yet
    sync_bytes      how much of it
    report_seconds  how often `on_report` is called; 0 for never
    upload_seconds  how often the log that grows is uploaded to a store
    """

    start: str = "earliest"
    stream: StreamSettings = field(default_factory=StreamSettings)
    retry: Retry = field(default_factory=lambda: Retry(limit=None))
    keep: Retention = field(default_factory=Retention)
    sync_seconds: float = 1.0
    sync_bytes: int = 64 << 20
    report_seconds: float = 10.0
    upload_seconds: float = 60.0

    def __post_init__(self) -> None:
        if isinstance(self.start_from, AtGtids):
            message = "logs are copied from earliest, latest, a file or a time on; GTIDs are none of these"
            raise OptionError(f"start: {message}")
        if self.sync_seconds < 0:
            raise OptionError(f"sync_seconds: {self.sync_seconds} is not a time to wait")
        if self.report_seconds < 0:
            raise OptionError(f"report_seconds: {self.report_seconds} is not a time to wait")
        if not self.upload_seconds > 0:
            raise OptionError(f"upload_seconds: {self.upload_seconds} is not a time to wait")

    @property
    def start_from(self) -> StartFrom:
        """Where a new archive begins, as a value."""
        return parse_start(self.start)

    @property
    def tick_seconds(self) -> float:
        """How often there is time for other things than copying."""
        return min(0.5, max(0.05, self.sync_seconds))
