"""The command `binspark`: its commands by name, each loaded when it is asked for."""

from __future__ import annotations

import difflib
import gc
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from binspark import __version__
from binspark.errors import BinlogError, OptionError
from binspark.kernels import cache

_UNWANTED = {"pandas": "", "cffi": "numba.", "yaml": "numba."}
"""What is loaded because it is installed, and what the names of the modules begin with that ask for it in vain.

Arrow asks for the first, Numba for the others. It takes a third of a second, and no command uses it.
"""

_NEW_OBJECTS = 200_000
"""After how many of them Python looks for garbage: what is imported is none."""


def load_lightly() -> None:
    """Let this process load nothing that is of no use to it. This is not for processes of Spark."""
    sys.meta_path.insert(0, _Unwanted)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_NEW_OBJECTS)


class _Unwanted:
    """Says of some libraries that they are not installed."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        if name in _UNWANTED and _who_asks().startswith(_UNWANTED[name]):
            raise ModuleNotFoundError(f"{name} is of no use here", name=name)


def _who_asks() -> str:
    """Return the name of the module that imports another one."""
    frame = sys._getframe(2)
    while frame.f_back is not None and "importlib" in frame.f_globals.get("__name__", ""):
        frame = frame.f_back
    asking: str = frame.f_globals.get("__name__", "")
    return asking


def leave(code: int) -> NoReturn:
    """End the process without tidying up: Python takes a tenth of a second to give back what the system takes back."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads it any more
            continue
    os._exit(code)


CLOSED_PIPE = 128 + 13
"""What a shell shows of a program that the signal SIGPIPE ended."""

_NAME = "binspark"
_COMPLETION = "_BINSPARK_COMPLETE"
_WITH_SPARK = frozenset({"demo"})

COMMANDS = {
    "events": ("binspark.cli.events", "events_command"),
    "transactions": ("binspark.cli.transactions", "transactions_command"),
    "rows": ("binspark.cli.rows", "rows_command"),
    "explain": ("binspark.cli.explain", "explain_command"),
    "verify": ("binspark.cli.verify", "verify_command"),
    "gtid": ("binspark.cli.gtid", "gtid_command"),
    "stat": ("binspark.cli.stat", "stat_command"),
    "export": ("binspark.cli.export", "export_command"),
    "archive": ("binspark.cli.archive", "archive_command"),
    "tail": ("binspark.cli.tail", "tail_command"),
    "doctor": ("binspark.cli.doctor", "doctor_command"),
    "demo": ("binspark.cli.demo", "demo_command"),
}


class LazyGroup(click.Group):
    """A group whose commands are imported only when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=_NAME)
def main() -> None:
    """Read MySQL's and MariaDB's binary logs."""


def run() -> None:
    """Run the command and exit: 0 fine, 1 the log is damaged or a check failed, 2 wrong use, 141 nobody reads on."""
    cache.enable()
    if _COMPLETION in os.environ:
        main(prog_name=_NAME)
    if _WITH_SPARK.intersection(sys.argv[1:2]):
        sys.exit(exit_code(sys.argv[1:]))
    load_lightly()
    leave(exit_code(sys.argv[1:]))


def exit_code(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code."""
    try:
        return _result(arguments)
    except BrokenPipeError:
        return _closed_output()
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # Rich ends a program so
            return _closed_output()
        raise


def _result(arguments: list[str]) -> int:
    """Run the command and say what went wrong. Click's own `main` would take a closed pipe for a failure."""
    try:
        with main.make_context(_NAME, list(arguments)) as context:
            result = main.invoke(context)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo(err=True)
        return 130
    except BinlogError as error:
        click.echo(f"binspark: {error}", err=True)
        return 2 if isinstance(error, OptionError) else 1


def _closed_output() -> int:
    """Leave as programs do that a closed pipe ends. Python would complain once more when it closes its output."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in (sys.stdout, sys.stderr):
        os.dup2(nowhere, output.fileno())
    return CLOSED_PIPE
