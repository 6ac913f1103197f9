"""Transaction payloads of ordinary size, decompressed at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from binspark.columns.arena import Block
from binspark.event import TransactionPayload
from binspark.frames.payload import Limits, PayloadCompression

_MAX_BYTES = 32 << 20
_CODEC = "zstd"


def expand_at_once(body: TransactionPayload, limits: Limits) -> Block | None:
    """Return the events of a payload; None if it is too large, or not compressed, or not valid.

    This saves the copy that decompressing in chunks makes, and memory comes from Arrow's pool, often used before.
    A payload for which this returns None is read by `frames.payload`, which has all checks and their messages.
    """
    size = body.uncompressed_size
    if (
        body.compression_type != PayloadCompression.ZSTD
        or size is None
        or not 0 < size <= min(_MAX_BYTES, limits.payload_bytes)
    ):
        return None
    try:
        return np.frombuffer(pa.decompress(body.payload, size, codec=_CODEC), dtype=np.uint8)
    except (OSError, ValueError):
        return None
