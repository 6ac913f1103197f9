"""The command `binspark`: its subcommands by name, each imported when it is used."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from binspark import __version__
from binspark.cli.output import escape_what_cannot_be_encoded, print_message
from binspark.kernels import cache
from binspark.options.option import suggestion
from binspark.os_errors import describe_os_error

_HIDDEN = "pandas"
"""What commands do not use, but Arrow imports if it is installed, which takes a quarter of a second."""

_GC_THRESHOLD = 200_000
"""The number of new objects after which Python collects garbage: imported modules are none."""


def load_lightly() -> None:
    """Keep this process from importing a library that it does not use. It must not be called in Spark's processes."""
    sys.meta_path.insert(0, _HiddenLibrary)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_GC_THRESHOLD)


class _HiddenLibrary:
    """Reports a library as not installed."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        if name == _HIDDEN:
            raise ModuleNotFoundError(f"{name} is not used by binspark's commands", name=name)


def leave(code: int) -> NoReturn:
    """Exit without Python's cleanup, which takes a tenth of a second to free what the system frees anyway."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # it was closed before the program began
                stream.flush()
        except (OSError, ValueError):  # the reader of the pipe is gone
            continue
    os._exit(code)


CLOSED_PIPE = 128 + 13
"""The exit code that a shell reports for a program that SIGPIPE ended."""

FAILED = 1
_NAME = "binspark"
_COMPLETION = "_BINSPARK_COMPLETE"
_WITH_SPARK = frozenset({"demo", "mirror"})

COMMANDS = {
    "events": ("binspark.cli.events", "events_command"),
    "transactions": ("binspark.cli.transactions", "transactions_command"),
    "rows": ("binspark.cli.rows", "rows_command"),
    "sql": ("binspark.cli.sql", "sql_command"),
    "dump": ("binspark.cli.dump", "dump_command"),
    "explain": ("binspark.cli.explain", "explain_command"),
    "explore": ("binspark.cli.explore", "explore_command"),
    "verify": ("binspark.cli.verify", "verify_command"),
    "gtid": ("binspark.cli.gtid", "gtid_command"),
    "diff": ("binspark.cli.diff", "diff_command"),
    "restore": ("binspark.cli.restore", "restore_command"),
    "stat": ("binspark.cli.stat", "stat_command"),
    "report": ("binspark.cli.report", "report_command"),
    "cut": ("binspark.cli.cut", "cut_command"),
    "export": ("binspark.cli.export", "export_command"),
    "archive": ("binspark.cli.archive", "archive_command"),
    "tail": ("binspark.cli.tail", "tail_command"),
    "mirror": ("binspark.cli.mirror", "mirror_command"),
    "serve": ("binspark.cli.serve", "serve_command"),
    "status": ("binspark.cli.status", "status_command"),
    "doctor": ("binspark.cli.doctor", "doctor_command"),
    "demo": ("binspark.cli.demo", "demo_command"),
}


class LazyGroup(click.Group):
    """A group whose commands are imported only when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; suggest the most similar name if there is none."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(f"no such command: {args[0]}{suggestion(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=_NAME)
def main() -> None:
    """Read the binary logs of MySQL and MariaDB."""


def run() -> None:
    """Run the command and exit: 0 fine, 1 the log is damaged or a check failed, 2 wrong use, 141 closed pipe."""
    cache.enable()
    if sys.stdout is None:  # it was closed before the program began
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (open until the end)
    escape_what_cannot_be_encoded()
    if _COMPLETION in os.environ:
        main(prog_name=_NAME)
    if _WITH_SPARK.intersection(sys.argv[1:2]):
        sys.exit(exit_code(sys.argv[1:]))
    load_lightly()
    leave(exit_code(sys.argv[1:]))


def exit_code(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code."""
    try:
        code = _result(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _closed_output()
    except OSError as error:  # errors of files that are read are a `SourceError`; what is left is the output
        print_message(f"cannot write the output: {describe_os_error(error)}")
        return _closed_output(FAILED)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # Rich exits on a closed pipe
            return _closed_output()
        raise


def _result(arguments: list[str]) -> int:
    """Run the command and show click's errors. Click's own `main` would report a closed pipe as a failure."""
    try:
        with main.make_context(_NAME, list(arguments)) as context:
            main.invoke(context)
        return 0
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo(err=True)
        return 130


def _closed_output(code: int = CLOSED_PIPE) -> int:
    """Return the exit code for a closed pipe, and redirect the output: Python would fail again when it flushes it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in (sys.stdout, sys.stderr):
        os.dup2(nowhere, output.fileno())
    return code
