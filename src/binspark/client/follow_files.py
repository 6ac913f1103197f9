"""A server's log files for good, byte for byte: every event of every file once, in order, over lost connections.

Unlike `follow` it knows no transactions: after a lost connection it goes on behind the last event, in the same file of
the same server. That is what a copy of the files needs. Events that are in no file (`in_file` is false) come as the
server sends them: they say which file goes on, and that the server is alive.
"""

from __future__ import annotations

from collections.abc import Iterator

from binspark.client.following import Following, Start
from binspark.client.options import ConnectionOptions
from binspark.client.reopen import Reopened
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings
from binspark.client.start import AtGtids, parse_start
from binspark.client.stream import OnHeartbeat, StreamEvent
from binspark.client.watch import ResetWatch
from binspark.errors import OptionError
from binspark.frames.codes import EventCode


def follow_files(
    options: ConnectionOptions,
    start: Start = "earliest",
    settings: FollowSettings | None = None,
    on_heartbeat: OnHeartbeat | None = None,
) -> FileFollower:
    """Follow a server's files from a place on. GTIDs are no place in a file."""
    parsed = parse_start(start) if isinstance(start, str) else start
    if isinstance(parsed, AtGtids):
        raise OptionError("start: files are followed from a file and position, earliest, latest or a time")
    return FileFollower(options, parsed, settings or FollowSettings(), on_heartbeat)


class FileFollower(Following[StreamEvent]):
    """Events of files, as an iterator; made by `follow_files`."""

    def _read(self, reopened: Reopened, watch: ResetWatch) -> Iterator[StreamEvent]:
        created = reopened.point.created
        for event in reopened:
            created = created_after(event, created, reopened.point.file)
            if event.heartbeat:
                watch.heartbeat(reopened.stream)
            if event.in_file or event.heartbeat:
                self._reconnector.progressed()
            self._point = ResumePoint(event.file, event.end_offset, None, reopened.identity.uuid, created)
            yield event


def created_after(event: StreamEvent, created: int, first_file: str) -> int:
    """Return when the file behind an event was made, as far as that is known; 0 if not."""
    if event.type_code == EventCode.FORMAT_DESCRIPTION:
        return event.frame.header.timestamp
    if event.type_code == EventCode.ROTATE and not event.in_file:
        return created if event.file == first_file else 0
    return created
