"""A server's log files for good, as runs of bytes: `client.follow_files`, many events at a time."""

from __future__ import annotations

from collections.abc import Iterator

from binspark.client.bulk.runs import EventRuns, Run, Stop
from binspark.client.follow_files import created_after
from binspark.client.following import Following
from binspark.client.options import ConnectionOptions
from binspark.client.reopen import Reopened
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings
from binspark.client.watch import ResetWatch


class RunFollower(Following[Run]):
    """Runs of a server's files from a place on, as an iterator. A lost connection goes on behind the last run."""

    def __init__(
        self,
        options: ConnectionOptions,
        start: ResumePoint,
        settings: FollowSettings,
        tick_seconds: float = 0.5,
        stop: Stop | None = None,
    ) -> None:
        super().__init__(options, start, settings, None)
        self._tick_seconds = tick_seconds
        self._stop = stop

    def _read(self, reopened: Reopened, watch: ResetWatch) -> Iterator[Run]:
        created = reopened.point.created
        runs = EventRuns(reopened, self._tick_seconds, self._stop)
        for run in runs:
            if run.event is not None:
                created = created_after(run.event, created, reopened.point.file)
                if run.event.heartbeat:
                    watch.heartbeat(reopened.stream)
            if run.data or (run.event is not None and run.event.heartbeat):
                self._reconnector.progressed()
            self._point = ResumePoint(run.file, run.end, None, reopened.identity.uuid, created)
            yield run
            if runs.is_stopped:
                return
