"""The options of every command that connects to a server, read into one frozen `ConnectionConfig`.

There is no option for the password: every user of the machine can see the arguments of a process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import click

from binspark.cli.command import click_option
from binspark.errors import OptionError, SourceError
from binspark.options.option import Surface
from binspark.options.server import ARCHIVE_OPTIONS, SERVER_OPTIONS, STREAM_OPTIONS, connection_arguments
from binspark.server.config import ConnectionConfig, connection_config

_Command = Callable[..., Any]

_OPTIONS = tuple(option for option in SERVER_OPTIONS if Surface.COMMAND_LINE in option.surfaces)
_LIVE_OPTIONS = {option.name: option for option in (*STREAM_OPTIONS, *ARCHIVE_OPTIONS)}
_ask_password = click.option(
    "--ask-password",
    is_flag=True,
    help="Ask for the password. Otherwise it is read from the option file, BINSPARK_PASSWORD or MYSQL_PWD.",
)


def live_option(name: str, **settings: Any) -> Callable[[_Command], _Command]:
    """Return the decorator for an option of a stream or an archive; `settings` are click's, and win."""
    return click_option(_LIVE_OPTIONS[name], **settings)


def server_options(command: _Command) -> _Command:
    """Give a command the options of a connection. It receives one argument for them, `connection`."""

    @wraps(command)
    def with_connection(*positional: Any, ask_password: bool, **arguments: Any) -> Any:
        given = {option.name: arguments.pop(option.name) for option in _OPTIONS}
        connection = _connection(given)
        if ask_password:
            connection = _with_password(connection)
        return command(*positional, connection=connection, **arguments)

    decorated: _Command = _ask_password(with_connection)
    for option in reversed(_OPTIONS):
        decorated = click_option(option, parse=False)(decorated)
    return decorated


def _connection(given: dict[str, Any]) -> ConnectionConfig:
    try:
        return connection_config(**connection_arguments(given, Surface.COMMAND_LINE))
    except SourceError as error:  # the option file cannot be read: as wrong as any other option
        raise OptionError(error.message, error.position) from None


def _with_password(connection: ConnectionConfig) -> ConnectionConfig:
    """Return the same options with the password that a person types."""
    question = f"Password of {connection.user} at {connection.addresses[0]}"
    password: str = click.prompt(question, default="", hide_input=True, show_default=False, err=True)
    return replace(connection, password=password)
