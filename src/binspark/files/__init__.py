"""The rim towards files: which logs a path means, and their bytes as events."""

from binspark.files.read import ReadOptions, read_events, read_frames
from binspark.files.sources import LogSource, find_logs
from binspark.files.storage import Storage
from binspark.files.storage_file import LogFile

__all__ = ["LogFile", "LogSource", "ReadOptions", "Storage", "find_logs", "read_events", "read_frames"]
