"""The command `binspark`: its commands by name, each loaded when it is asked for."""

from __future__ import annotations

import difflib
import os
import sys
from importlib import import_module

import click

from binspark import __version__
from binspark.errors import BinlogError, OptionError

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
@click.version_option(__version__, prog_name="binspark")
def main() -> None:
    """Read MySQL's and MariaDB's binary logs."""


def run() -> None:
    """Run the command and exit: 0 fine, 1 the log is damaged or a check failed, 2 wrong use."""
    sys.exit(exit_code(sys.argv[1:]))


def exit_code(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code."""
    try:
        result = main.main(arguments, prog_name="binspark", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        return 130
    except BinlogError as error:
        click.echo(f"binspark: {error}", err=True)
        return 2 if isinstance(error, OptionError) else 1
    except BrokenPipeError:
        # Whoever read the output has seen enough. Python would complain again when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
