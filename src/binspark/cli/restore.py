"""`binspark restore`: point-in-time recovery from an archive, as a plan that is shown and then applied."""

from __future__ import annotations

import time
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import Command, format_option
from binspark.cli.output import counted, echo, print_message, size_text
from binspark.cli.progress import is_progress_shown, note_progress
from binspark.cli.row_options import history_from, row_options, selection_from
from binspark.cli.server_options import drop_connection, names_server, take_connection, with_server_options
from binspark.errors import OptionError, SourceError
from binspark.files.progress import begin_job
from binspark.files.sources import expect_logs
from binspark.options.times import Clock

if TYPE_CHECKING:
    from binspark.columns.selection import Selection
    from binspark.restore.apply import Applied
    from binspark.restore.plan import Plan
    from binspark.restore.target import Target
    from binspark.server.config import ConnectionConfig

_PROGRESS_SECONDS = 5.0


@click.command("restore", cls=Command)
@click.argument("archive", nargs=-1, required=True, metavar="ARCHIVE…")
@click.option("--apply", "applies", is_flag=True, help="Apply the plan. Without it, the plan is only shown.")
@click.option("--stop-before-gtid", metavar="GTID", help="Stop before this transaction.")
@click.option("--stop-after-gtid", metavar="GTID", help="Stop after this transaction.")
@click.option(
    "--before-statement",
    metavar="TEXT",
    help="Stop before the transaction with the first statement that contains this text; * stands for any text, as in "
    "'DROP TABLE*orders'.",
)
@click.option("--accept-gap", is_flag=True, help="Apply the plan even if transactions are missing before it.")
@format_option("text", "jsonl")
@row_options
@with_server_options
def restore_command(
    archive: tuple[str, ...],
    applies: bool,
    stop_before_gtid: str | None,
    stop_after_gtid: str | None,
    before_statement: str | None,
    accept_gap: bool,
    output_format: str,
    timezone: tzinfo,
    schema_file: str | None,
    **options: Any,
) -> int:
    """Recover a server (--host) from an archive up to a point.

    ARCHIVE is a file, a glob, a directory, an index file or a URI. The server was loaded with a backup that ends
    within the archive. Shown is a plan: which transactions of the archive the server lacks, from where to where, and
    which are left out and why. With --apply they are applied, each once: it can be interrupted and run again at any
    time.

    Options select the transactions, as for other commands: --stop-datetime, --committed-before and --stop-position end
    the recovery at the first transaction from then on; --exclude-gtids leaves out single ones. Without --host, the plan
    is that for an empty server.

    Exit code 1: the plan cannot be applied, a transaction failed, or a log is damaged.
    """
    selection = selection_from({name: options.pop(name) for name in _filter_names(options)}, timezone)
    connection = _connection(options, applies=applies)
    from binspark.restore.stop import StopAt, parse_gtid

    stop = StopAt(
        None if stop_before_gtid is None else parse_gtid(stop_before_gtid, "--stop-before-gtid"),
        None if stop_after_gtid is None else parse_gtid(stop_after_gtid, "--stop-after-gtid"),
        before_statement,
    )
    if stop_before_gtid is not None and stop_after_gtid is not None:
        raise OptionError("--stop-before-gtid and --stop-after-gtid cannot be combined")
    return _Recovery(archive, selection, connection, schema_file).run(
        stop, Clock(timezone), output_format, applies=applies, accept_gap=accept_gap
    )


class _Recovery:
    """One run of the command."""

    def __init__(
        self,
        archive: tuple[str, ...],
        selection: Selection,
        config: ConnectionConfig | None,
        schema_file: str | None,
    ) -> None:
        from binspark.files.positions import part_between
        from binspark.files.sources import find_logs
        from binspark.restore.source import archive_name, refuse_unsuitable

        self._logs = part_between(find_logs(archive), selection, with_earlier=False)
        refuse_unsuitable(self._logs)
        self._name = archive_name(self._logs)
        self._selection = selection
        self._config = config
        self._schema_file = schema_file

    def run(self, stop: Any, clock: Clock, output_format: str, *, applies: bool, accept_gap: bool) -> int:
        """Show the plan, and apply it."""
        from binspark.cli.restore_output import plan_record_line, plan_text
        from binspark.restore.check import obstacles, warnings
        from binspark.restore.plan import make_plan
        from binspark.restore.target import refuse_running

        target = self._target()
        if target is not None:
            refuse_running(target.progress, self._name)
        expect_logs(self._logs)
        plan = make_plan(self._logs, self._selection, stop, _has_nothing if target is None else target.has)
        gaps = [] if target is None else list(obstacles(plan, target, self._selection))
        warned = list(warnings(plan, target, self._selection))
        line = plan_record_line if output_format == "jsonl" else plan_text
        echo(line(plan, target, gaps, warned, clock))
        if not applies:
            return 1 if gaps else 0
        assert target is not None
        if gaps and not accept_gap:
            raise SourceError("the plan is not applied: see above; --accept-gap applies it all the same")
        self._apply(plan, target)
        return 0

    def _target(self) -> Target | None:
        if self._config is None:
            return None
        from binspark.restore.target import read_target
        from binspark.server.connection import connect

        with connect(self._config) as connection:
            return read_target(connection, self._name)

    def _apply(self, plan: Plan, target: Target) -> None:
        from binspark.restore.apply import Applier

        assert self._config is not None
        progress = _Progress(plan)
        history = None if self._schema_file is None else history_from(self._schema_file)
        applied = Applier(self._config, target, self._selection, self._name, progress.show, history).apply(plan)
        progress.finish()
        if applied.notice:
            print_message(applied.notice)


class _Progress:
    """Shows how far the recovery is: with a bar on a terminal, elsewhere with a line from time to time."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._applied: Applied | None = None
        self._begun = self._shown = time.monotonic()
        begin_job("applying", lambda: 0 if self._applied is None else self._applied.bytes, plan.bytes)

    def show(self, applied: Applied) -> None:
        """Note what was applied."""
        self._applied = applied
        now = time.monotonic()
        if is_progress_shown():
            note_progress(f"{applied.transactions:,} of {counted(self._plan.transactions, 'transaction')}")
        elif now - self._shown >= _PROGRESS_SECONDS:
            self._shown = now
            rate = applied.bytes / (now - self._begun)
            print_message(
                f"{applied.transactions:,} of {counted(self._plan.transactions, 'transaction')} applied, up to "
                f"{applied.last}; {size_text(applied.bytes)} of {size_text(self._plan.bytes)}, {size_text(rate)}/s"
            )

    def finish(self) -> None:
        """Print the result."""
        count = 0 if self._applied is None else self._applied.transactions
        seconds = time.monotonic() - self._begun
        print_message(f"{counted(count, 'transaction')} applied in {seconds:.1f} s: the recovery is complete")


def _filter_names(options: dict[str, Any]) -> list[str]:
    from binspark.options.server import SERVER_OPTIONS

    of_server = {option.name for option in SERVER_OPTIONS}
    return [name for name in options if name not in of_server]


def _connection(options: dict[str, Any], *, applies: bool) -> ConnectionConfig | None:
    if names_server(options):
        return take_connection(options)
    drop_connection(options)
    if applies:
        raise OptionError("--apply needs a server to apply the plan to: name it with --host")
    return None


def _has_nothing(_gtid: str | None, _file: str, _start: int) -> bool:
    return False
