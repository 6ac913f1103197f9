"""The archive that a server is recovered from: its name, and whether it can be applied."""

from __future__ import annotations

from collections.abc import Sequence

from binspark.errors import OptionError, Unsupported
from binspark.files.log_head import read_head
from binspark.files.sources import LogSource, log_order, refuse_standard_input
from binspark.os_errors import source_errors
from binspark.position import Position, log_name


def archive_name(logs: Sequence[LogSource]) -> str:
    """Return the name under which the progress of an archive is stored: that of its files, and of their server."""
    first = logs[0]
    with source_errors(first.name), first.open() as file:
        server_id = read_head(file, first.name).frame.header.server_id
    return f"{log_order(log_name(first.name))[0]}@{server_id}"


def refuse_unsuitable(logs: Sequence[LogSource]) -> None:
    """Refuse logs that cannot be applied: those of very old servers, relay logs, standard input."""
    if not logs:
        raise OptionError("the archive has no logs")
    refuse_standard_input(logs, "restored from")
    for log in logs:
        with source_errors(log.name), log.open() as file:
            head = read_head(file, log.name)
        if head.relay:
            message = "this is a relay log: restore from the logs of the source, or from the replica's own"
            raise Unsupported(message, Position(file=log.name))
        if not head.format.is_v4 or head.format.event_codes is not None:
            message = f"logs of MySQL {head.format.server_version or 'before 5.0'} cannot be applied to current servers"
            raise Unsupported(message, Position(file=log.name))
