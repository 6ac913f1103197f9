"""Bytes into frames: magic, versions, headers, checksums, payloads, and finding an event from any offset."""

from binspark.frames.checksum import ChecksumState
from binspark.frames.codes import KNOWN_CODES, EventCode, HeaderFlag, type_name
from binspark.frames.format import ChecksumAlgorithm, Family, FormatDescription, LogFormat
from binspark.frames.frame import Frame
from binspark.frames.framer import Framer
from binspark.frames.header import Header
from binspark.frames.magic import MAGIC

__all__ = [
    "KNOWN_CODES",
    "MAGIC",
    "ChecksumAlgorithm",
    "ChecksumState",
    "EventCode",
    "Family",
    "FormatDescription",
    "Frame",
    "Framer",
    "Header",
    "HeaderFlag",
    "LogFormat",
    "type_name",
]
