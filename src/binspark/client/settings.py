"""How a stream is asked for, and how it is followed: values only."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field

from binspark.errors import OptionError

RANDOM_SERVER_IDS = range(1 << 31, (1 << 32) - 1)
"""Where server ids that nobody chose are: above those that people give to servers."""

_MAX_SERVER_ID = (1 << 32) - 1
_SHORTEST_HEARTBEAT = 0.001


def random_server_id() -> int:
    """Return a server id that hardly anybody else uses."""
    return random.SystemRandom().choice(RANDOM_SERVER_IDS)


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """How a stream is asked for.

    server_id          must differ from that of the server and of each other reader
    uuid               names this reader: a second one with the same name ends the first
    heartbeat_seconds  how often a server that has nothing to send says so
    missed_heartbeats  after how many of them that did not come a connection counts as lost
    first_seconds      how long the first event may take: the server looks for the place in its logs
    until_end          end where the log ends, do not wait for more
    semi_sync          acknowledge transactions to a server that waits for it
    report_host        what SHOW REPLICAS says of this reader
    """

    server_id: int = field(default_factory=random_server_id)
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))
    heartbeat_seconds: float = 10.0
    missed_heartbeats: int = 3
    first_seconds: float = 60.0
    until_end: bool = False
    semi_sync: bool = False
    report_host: str = "binspark"

    def __post_init__(self) -> None:
        if not 1 <= self.server_id <= _MAX_SERVER_ID:
            raise OptionError(f"server_id: {self.server_id} is not a number from 1 to {_MAX_SERVER_ID}")
        if not _SHORTEST_HEARTBEAT <= self.heartbeat_seconds <= 4294967:
            raise OptionError(f"heartbeat_seconds: {self.heartbeat_seconds} is not from 0.001 to 4294967")
        if self.missed_heartbeats < 1:
            raise OptionError(f"missed_heartbeats: {self.missed_heartbeats} is not 1 or more")

    @property
    def silence_seconds(self) -> float:
        """How long a connection may be silent before it counts as lost."""
        return self.heartbeat_seconds * self.missed_heartbeats


@dataclass(frozen=True, slots=True)
class Retry:
    """How often to connect again. Delays double from the first to the longest, less a random part.

    limit            failures in a row, without any progress between them; None for no limit
    first_seconds    the delay after the first failure, once every server was tried
    longest_seconds  the longest delay
    """

    limit: int | None = 10
    first_seconds: float = 0.5
    longest_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise OptionError(f"limit: {self.limit} is not a number of attempts")
        if not 0 <= self.first_seconds <= self.longest_seconds:
            raise OptionError(f"no delay goes from {self.first_seconds} to {self.longest_seconds} seconds")

    def delay(self, round_number: int) -> float:
        """Return how long to wait after a round of failures; the first is 1. Readers of one server come apart."""
        longest = min(self.longest_seconds, self.first_seconds * 2.0 ** min(round_number - 1, 60))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)


@dataclass(frozen=True, slots=True)
class FollowSettings:
    """How a server is followed.

    stream         how each stream is asked for; `until_end` makes the iteration end where the log ends
    retry          how often to connect again
    require_rows   refuse a server that logs statements instead of rows
    memory_bytes   how much of an open transaction is held in memory before the rest goes to a temporary file
    check_seconds  how often, while nothing comes, a second connection looks whether the logs were reset
    """

    stream: StreamSettings = field(default_factory=StreamSettings)
    retry: Retry = Retry()
    require_rows: bool = False
    memory_bytes: int = 32 << 20
    check_seconds: float = 60.0
