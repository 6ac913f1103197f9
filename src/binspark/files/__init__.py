"""Logs in files, local and remote: which logs a path refers to, and their contents as events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.lazy import names_in

if TYPE_CHECKING:
    from binspark.files.read import ReadOptions, read_events, read_frames
    from binspark.files.sources import LogSource, find_logs
    from binspark.files.storage import Storage
    from binspark.files.storage.store import LogFile

__all__ = ["LogFile", "LogSource", "ReadOptions", "Storage", "find_logs", "read_events", "read_frames"]

__getattr__ = names_in(
    __name__,
    {
        "read": "ReadOptions read_events read_frames",
        "sources": "LogSource find_logs",
        "storage": "Storage",
        "storage.store": "LogFile",
    },
)
