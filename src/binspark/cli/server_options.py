"""The options of every command that connects to a server, read into one frozen `ConnectionConfig`.

They are those of MySQL's clients, with their short names: `-h -P -u -p -S`. Option files are read as those clients do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import ASK, click_option
from binspark.cli.output import print_message
from binspark.errors import OptionError, SourceError
from binspark.options.option import Surface
from binspark.options.server import ARCHIVE_OPTIONS, SERVER_OPTIONS, STREAM_OPTIONS, connection_arguments

if TYPE_CHECKING:
    from binspark.server.config import ConnectionConfig

_Command = Callable[..., Any]

_OPTIONS = tuple(option for option in SERVER_OPTIONS if Surface.COMMAND_LINE in option.surfaces)
_ACCOUNT_OPTIONS = tuple(option for option in _OPTIONS if option.name not in ("host", "port", "socket"))
_LIVE_OPTIONS = {option.name: option for option in (*STREAM_OPTIONS, *ARCHIVE_OPTIONS)}


def live_option(name: str, **settings: Any) -> Callable[[_Command], _Command]:
    """Return the decorator for an option of a stream or an archive; `settings` are click's, and win."""
    return click_option(_LIVE_OPTIONS[name], **settings)


def server_options(command: _Command) -> _Command:
    """Give a command the options of a connection. It receives one argument for them, `connection`."""

    @wraps(command)
    def with_connection(*positional: Any, **arguments: Any) -> Any:
        return command(*positional, connection=take_connection(arguments), **arguments)

    return with_server_options(with_connection)


def with_server_options(command: _Command) -> _Command:
    """Give a command the options of a connection, one keyword argument for each."""
    for option in reversed(_OPTIONS):
        command = click_option(option, parse=False)(command)
    return command


def names_server(arguments: dict[str, Any]) -> bool:
    """Return whether the options of a command say how to connect to a server."""
    return any(arguments[option.name] not in (None, (), False) for option in _OPTIONS)


def take_connection(arguments: dict[str, Any]) -> ConnectionConfig:
    """Take the options of a connection out of a command's arguments, and return what they mean."""
    given = {option.name: arguments.pop(option.name) for option in _OPTIONS}
    asks = given["password"] == ASK
    if given["password"] and not asks:
        print_message("every user of this machine can see a password on the command line; use -p without a value")
    connection = _connection({**given, "password": None if asks else given["password"]})
    return _with_password(connection) if asks else connection


def drop_connection(arguments: dict[str, Any]) -> None:
    """Take the options of a connection out of a command's arguments: no server is read."""
    for option in _OPTIONS:
        arguments.pop(option.name)


class Account:
    """The options of a connection without its address, for commands whose servers are named by URLs."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given

    def connection(self, url: str) -> ConnectionConfig:
        """Return how to reach the server of a URL. What the URL names wins over the options."""
        from binspark.server.url import url_arguments

        named: dict[str, Any] = dict(url_arguments(url))
        host = named.pop("host", None)
        given = {**dict.fromkeys(("port", "socket")), **self._given, **named, "host": (host,) if host else ()}
        asks = given["password"] == ASK
        if given["password"] and not asks:
            print_message("every user of this machine can see a password on the command line; use -p without a value")
        connection = _connection({**given, "password": None if asks else given["password"]})
        return _with_password(connection) if asks else connection


def account_options(command: _Command) -> _Command:
    """Give a command the options of a connection without its address. It receives one argument for them, `account`."""

    @wraps(command)
    def with_account(*positional: Any, **arguments: Any) -> Any:
        given = {option.name: arguments.pop(option.name) for option in _ACCOUNT_OPTIONS}
        return command(*positional, account=Account(given), **arguments)

    decorated: _Command = with_account
    for option in reversed(_ACCOUNT_OPTIONS):
        decorated = click_option(option, parse=False)(decorated)
    return decorated


def _connection(given: dict[str, Any]) -> ConnectionConfig:
    from binspark.server.config import connection_config
    from binspark.server.option_files import default_option_files

    no_defaults = given.pop("no_defaults")
    if no_defaults and given["defaults_file"] is not None:
        raise OptionError("--no-defaults and --defaults-file cannot be combined")
    try:
        files = [] if no_defaults else default_option_files(print_message)
        given = {name: None if value is False else value for name, value in given.items()}  # a flag that is not given
        return connection_config(default_files=files, **connection_arguments(given, Surface.COMMAND_LINE))
    except SourceError as error:  # the option file cannot be read: as wrong as any other option
        raise OptionError(error.message, error.position) from None


def _with_password(connection: ConnectionConfig) -> ConnectionConfig:
    """Return the same options with the password that a person types."""
    question = f"Password of {connection.user} at {connection.addresses[0]}"
    password: str = click.prompt(question, default="", hide_input=True, show_default=False, err=True)
    return replace(connection, password=password)
