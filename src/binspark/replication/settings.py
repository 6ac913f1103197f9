"""How a stream is requested, and how it is followed: values only."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field

from binspark.errors import OptionError
from binspark.server.retry import Retry

RANDOM_SERVER_IDS = range(1 << 31, (1 << 32) - 1)
"""The range of server ids that nobody chose: above those that people give to servers."""

_MAX_SERVER_ID = (1 << 32) - 1
_MIN_HEARTBEAT, _MAX_HEARTBEAT = 0.001, 4294967


def random_server_id() -> int:
    """Return a server id that hardly anybody else uses."""
    return random.SystemRandom().choice(RANDOM_SERVER_IDS)


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """How a stream is requested.

    connection_server_id  must differ from that of the server and of each other reader
    uuid                  identifies this reader: a second one with the same UUID ends the first
    heartbeat_seconds     how often a server that has nothing to send reports that it is alive
    missed_heartbeats     after how many missing heartbeats a connection counts as lost
    first_seconds         how long the first event may take: the server searches its logs for the position
    semi_sync             acknowledge transactions to a server that waits for it
    report_host           what SHOW REPLICAS lists for this reader
    """

    connection_server_id: int = field(default_factory=random_server_id)
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))
    heartbeat_seconds: float = 10.0
    missed_heartbeats: int = 3
    first_seconds: float = 60.0
    semi_sync: bool = False
    report_host: str = "binspark"

    def __post_init__(self) -> None:
        if not 1 <= self.connection_server_id <= _MAX_SERVER_ID:
            problem = f"must be from 1 to {_MAX_SERVER_ID}, got {self.connection_server_id}"
            raise OptionError(problem, option="connection_server_id")
        if not _MIN_HEARTBEAT <= self.heartbeat_seconds <= _MAX_HEARTBEAT:
            problem = f"must be from {_MIN_HEARTBEAT} to {_MAX_HEARTBEAT}, got {self.heartbeat_seconds}"
            raise OptionError(problem, option="heartbeat_seconds")
        if self.missed_heartbeats < 1:
            raise OptionError(f"must be 1 or more, got {self.missed_heartbeats}", option="missed_heartbeats")

    @property
    def silence_seconds(self) -> float:
        """How long a connection may be silent before it counts as lost."""
        return self.heartbeat_seconds * self.missed_heartbeats


@dataclass(frozen=True, slots=True)
class FollowSettings:
    """How a server is followed.

    stream         how each stream is requested
    retry          how often to connect again
    require_rows   refuse a server that logs statements instead of rows
    memory_bytes   how much of a transaction in progress is kept in memory before the rest goes to a temporary file
    check_seconds  how often, while nothing comes, a second connection checks whether the logs were reset
    tick_seconds   how often, while nothing comes, an empty chunk is delivered to those who want bytes as they come
    """

    stream: StreamSettings = field(default_factory=StreamSettings)
    retry: Retry = field(default_factory=Retry)
    require_rows: bool = False
    memory_bytes: int = 32 << 20
    check_seconds: float = 60.0
    tick_seconds: float = 0.5
