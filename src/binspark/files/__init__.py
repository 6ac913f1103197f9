"""The rim towards files: which logs a path means, and their bytes as events."""

from binspark.files.read import ReadOptions, read_events, read_frames
from binspark.files.sources import LogSource, find_logs

__all__ = ["LogSource", "ReadOptions", "find_logs", "read_events", "read_frames"]
