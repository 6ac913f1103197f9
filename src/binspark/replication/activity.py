"""What a follower has read so far, counted once for each chunk. Other threads may look at it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from binspark.errors import BinlogError


@dataclass(slots=True)
class Activity:
    """What was read of a server, over all its connections. One thread counts, others may read.

    address        the server that is read, or was last
    is_connected   whether it is connected, as far as is known
    heard_at       when it sent something last, be it a heartbeat, in seconds since 1970; 0 if it never did
    event_time     the time of the last event, by the server's clock, in seconds since 1970; 0 if there was none
    bytes, events, transactions
                   what it has sent; what is sent again after a connection was lost counts again
    reconnects     how often a connection was lost, or could not be made, and it was tried again
    errors         how often each kind of error came, by the name of its class
    last_error     what the last one said; empty once the server has sent something again
    """

    address: str = ""
    is_connected: bool = False
    heard_at: float = 0.0
    event_time: int = 0
    bytes: int = 0
    events: int = 0
    transactions: int = 0
    reconnects: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    last_error: str = ""

    def count(self, size: int, events: int, transactions: int) -> None:
        """Count what has come."""
        self.bytes += size
        self.events += events
        self.transactions += transactions

    def heard(self, event_time: int) -> None:
        """Note that the server has sent something; 0 if that was not an event of its log."""
        self.heard_at = time.time()
        self.event_time = event_time or self.event_time
        self.is_connected = True
        self.last_error = ""

    def failed(self, error: BinlogError) -> None:
        """Count an error."""
        self.is_connected = False
        self.errors[type(error).__name__] += 1
        self.last_error = str(error)

    def lost(self, error: BinlogError) -> None:
        """Count an error after which another connection is tried."""
        self.failed(error)
        self.reconnects += 1
