"""What commands read: FILE… or a server, from a start to a stop, with the same options for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import RenamedOption
from binspark.cli.output import print_message
from binspark.cli.server_options import drop_connection, live_option, names_server, take_connection, with_server_options
from binspark.errors import DecodeError, OptionError, SourceError
from binspark.files.positions import NOWHERE, part_between
from binspark.files.sources import LogSource, expect_logs, find_logs
from binspark.position import COMPRESSED_SUFFIXES

if TYPE_CHECKING:
    from binspark.columns.selection import Selection
    from binspark.event import Event
    from binspark.files.condition_counts import ConditionCounts
    from binspark.files.damage import OnDamage
    from binspark.files.inputs import LogInput
    from binspark.files.read import ReadOptions
    from binspark.replication.server_input import ServerInput, ServerInputSettings
    from binspark.schema.history import SchemaHistory
    from binspark.server.config import ConnectionConfig

_Command = Callable[..., Any]
FILE_HELP = "FILE is a file, a glob, a directory, an index file, a URI, or - for standard input."

_files_argument = click.argument("files", nargs=-1, metavar="[FILE…]")
_OLD_CONNECTION_ID = {"--reader-id": "--connection-server-id"}


@dataclass(frozen=True)
class ServerRange:
    """A server, and which part of its log is read."""

    connection: ConnectionConfig
    start: str
    until: str | None
    connection_server_id: int | None
    heartbeat_seconds: float | None

    def settings(self, zone: tzinfo) -> ServerInputSettings:
        """Return how the log is read; `zone` is the time zone of times that have none."""
        from binspark.live import stream_settings
        from binspark.replication.server_input import ServerInputSettings

        stream = stream_settings(
            connection_server_id=self.connection_server_id, heartbeat_seconds=self.heartbeat_seconds
        )
        return ServerInputSettings(self.start, self.until, zone, stream)

    def open(self, zone: tzinfo) -> ServerInput:
        """Connect to the server and find the positions."""
        from binspark.replication.server_input import ServerInput

        return ServerInput(self.connection, self.settings(zone))


@dataclass(frozen=True)
class Logs:
    """What a command reads: files, or a server."""

    files: tuple[str, ...]
    server: ServerRange | None

    def inputs(
        self, selection: Selection, zone: tzinfo, *, with_earlier: bool = True, on_damage: OnDamage | None = None
    ) -> list[LogInput]:
        """Return the inputs in order; positions of the selection are positions in files.

        With `on_damage`, which is called with it, damage in files is skipped.
        """
        if self.server is None:
            from binspark.files.inputs import FileInput

            return [FileInput(source, on_damage) for source in self.sources(selection, with_earlier=with_earlier)]
        self.check_server(selection, skip_damaged=on_damage is not None)
        return [self.server.open(zone)]

    def sources(self, selection: Selection, *, with_earlier: bool = True) -> list[LogSource]:
        """Return the files, each from its start to its stop."""
        sources = part_between(find_logs(self.files), selection, with_earlier=with_earlier)
        expect_logs(sources)
        _warn_about_positions(sources)
        return sources

    def check_server(self, selection: Selection, *, skip_damaged: bool = False) -> None:
        """Refuse positions in files where a server is read, and to skip damage, which a server does not send."""
        if skip_damaged:
            raise OptionError("is for files; it cannot be combined with --host", option="--skip-damaged")
        given = [
            (position, option, instead)
            for position, option, instead in (
                (selection.start_position, "--start-position", "--start"),
                (selection.stop_position, "--stop-position", "--until"),
            )
            if position is not None
        ]
        for position, option, instead in given:
            shown = position if position.file else f"FILE:{position.offset}"
            raise OptionError(f"is a position in files; for a server use {instead} {shown}", option=option)


def server_history(log: LogInput, fallback: SchemaHistory) -> SchemaHistory:
    """Return what a server reports of its tables; `fallback` if the log is not that of a server."""
    from binspark.replication.server_input import ServerInput

    return log.history(fallback.on_notice) if isinstance(log, ServerInput) else fallback


def condition_of(
    logs: Logs, inputs: Sequence[LogInput], selection: Selection, schema_file: str | None
) -> ConditionCounts | None:
    """Return what finds the rows that a condition selects, for `events_of`; None if there is no condition."""
    if selection.where is None:
        return None
    from binspark.cli.row_options import history_from
    from binspark.files.condition_counts import ConditionCounts  # loads what reads rows

    counts = ConditionCounts(selection, server_history(inputs[0], history_from(schema_file)))
    for source in part_between(find_logs(logs.files), selection) if logs.server is None else ():
        if source.start == NOWHERE:  # it may define tables
            counts.begin_source(source)
    return counts


def events_of(log: LogInput, counts: ConditionCounts | None, options: ReadOptions | None = None) -> Iterator[Event]:
    """Yield the events of an input. With a condition, it is known how many rows of the last event it selects."""
    from binspark.files.inputs import FileInput
    from binspark.files.read import ReadOptions

    options = options or ReadOptions()
    if counts is None:
        return log.events(options)
    if isinstance(log, FileInput):
        counts.begin_source(log.source, skip_damaged=log.on_damage is not None)
        return counts.follow(log.events(options))
    from binspark.replication.server_input import ServerInput

    assert isinstance(log, ServerInput)
    return _events_of_chunks(log, counts, options)


def _events_of_chunks(log: ServerInput, counts: ConditionCounts, options: ReadOptions) -> Iterator[Event]:
    from binspark.replication.chunk import read_chunks

    for chunk in log.chunks():
        counts.begin(read_chunks(counts.reader, iter([chunk])))
        yield from counts.follow(chunk.events(expand_payloads=options.expand_payloads))


def sources_in_bulk(inputs: Sequence[LogInput], *, selects: bool) -> list[LogSource] | None:
    """Return the files in which kernels find what is selected; None if events are read one after the other."""
    from binspark.files.inputs import FileInput

    sources = [log.source for log in inputs if isinstance(log, FileInput) and log.on_damage is None]
    if not selects or len(sources) < len(inputs):
        return None
    from binspark.files.bulk_selection import can_select_in_bulk  # loads kernels

    return sources if can_select_in_bulk(sources) else None


def log_options(
    default_start: str = "earliest", default_until: str = "end", *, with_files: bool = True
) -> Callable[[_Command], _Command]:
    """Return the decorator for a command that reads FILE… or a server; it receives one argument for them, `logs`.

    A command without files always reads a server.
    """

    def decorate(command: _Command) -> _Command:
        @wraps(command)
        def with_logs(
            *positional: Any,
            start: str | None,
            until: str | None,
            connection_server_id: int | None,
            heartbeat_seconds: float | None,
            files: tuple[str, ...] = (),
            **arguments: Any,
        ) -> Any:
            if with_files and not names_server(arguments):
                _refuse_without_server(files, start, until)
                drop_connection(arguments)
                return command(*positional, logs=Logs(files, None), **arguments)
            if files:
                raise OptionError("FILE and --host cannot be combined: name files or a server")
            connection = take_connection(arguments)
            stop = until or default_until
            reads = ServerRange(
                connection,
                start or default_start,
                None if stop == "never" else stop,
                connection_server_id,
                heartbeat_seconds,
            )
            from binspark.cli.live import warnings_to
            from binspark.cli.status_lines import StatusLines

            # Who only follows a server has status lines, in the format of the rows; warnings are among them.
            lines = StatusLines("text" if with_files else arguments["output_format"])
            with warnings_to(lines.warn):
                return command(*positional, logs=Logs((), reads), **arguments)

        decorated: _Command = with_logs
        for name, settings in reversed(_live_settings(default_start, default_until)):
            decorated = live_option(name, **settings)(decorated)
        decorated = with_server_options(decorated)
        return _files_argument(decorated) if with_files else decorated

    return decorate


def _live_settings(default_start: str, default_until: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("start", {"help": f"{_help_of('start')}  [default: {default_start}]"}),
        ("until", {"help": f"{_help_of('until')} never follows the server.  [default: {default_until}]"}),
        ("connection_server_id", {"cls": RenamedOption, "old_names": _OLD_CONNECTION_ID}),
        ("heartbeat_seconds", {}),
    ]


def _help_of(name: str) -> str:
    from binspark.options.server import STREAM_OPTIONS

    return next(option.help for option in STREAM_OPTIONS if option.name == name)


def _refuse_without_server(files: tuple[str, ...], start: str | None, until: str | None) -> None:
    for option, value, instead in (("--start", start, "--start-position"), ("--until", until, "--stop-position")):
        if value is not None:
            raise OptionError(f"is for a server (--host); in files use {instead}", option=option)
    if not files:
        raise OptionError("no log given: name a FILE, or a server with --host")


def _warn_about_positions(sources: Iterable[LogSource]) -> None:
    """Report positions after the end of their log."""
    for source in sources:
        for option, offset in (("--start-position", source.start), ("--stop-position", source.stop)):
            if not offset or offset == NOWHERE:
                continue
            size = _size(source)
            if size is not None and offset > size:
                print_message(f"{option} {offset} is after the end of {source.name}, which has {size:,} bytes")


def _size(source: LogSource) -> int | None:
    if source.name.lower().endswith(COMPRESSED_SUFFIXES):
        return None
    try:
        return source.size()
    except (SourceError, DecodeError):
        return None
