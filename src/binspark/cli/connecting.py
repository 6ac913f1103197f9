"""The options of every command that talks to a server, and what they mean: one frozen `ConnectionConfig`.

No option takes a password: everybody on the machine sees the arguments of a process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import click

from binspark.errors import OptionError, SourceError
from binspark.server.config import ConnectionConfig, TlsMode, connection_config

_Command = Callable[..., Any]

_OPTIONS = (
    click.option(
        "--host",
        "hosts",
        multiple=True,
        metavar="HOST[:PORT]",
        help="The server, or several that hold the same data: repeated, or with commas. [default: localhost]",
    ),
    click.option("--port", type=click.IntRange(1, 65535), help="The port of hosts that name none. [default: 3306]"),
    click.option("--user", help="Who connects. [default: your login name]"),
    click.option("--socket", metavar="PATH", help="The socket of a server on this machine, instead of a host."),
    click.option(
        "--defaults-file",
        metavar="FILE",
        help="An option file of MySQL's clients: what is not given here comes from its groups [client] and [binspark].",
    ),
    click.option(
        "--ssl-mode",
        "tls_mode",
        type=click.Choice([mode.value for mode in TlsMode], case_sensitive=False),
        help="How the connection is protected. [default: verify_ca with --ssl-ca, else preferred]",
    ),
    click.option("--ssl-ca", "tls_ca", metavar="FILE", help="The authorities that the server's certificate is of."),
    click.option("--ssl-cert", "tls_cert", metavar="FILE", help="A certificate of your own, for servers that ask."),
    click.option("--ssl-key", "tls_key", metavar="FILE", help="The key of that certificate."),
    click.option(
        "--ask-password",
        is_flag=True,
        help="Ask for the password. Else it comes from the option file, BINSPARK_PASSWORD or MYSQL_PWD.",
    ),
)

heartbeat_option = click.option(
    "--heartbeat-seconds",
    type=click.FloatRange(min=0.001),
    default=10.0,
    show_default=True,
    help="How often a server that has nothing to send says so; after three that did not come, connect again.",
)

_PASSED_ON = ("port", "user", "socket", "defaults_file", "tls_mode", "tls_ca", "tls_cert", "tls_key")


def connecting_options(command: _Command) -> _Command:
    """Give a command the options that say how to reach a server. It gets `connection: ConnectionConfig` for them."""

    @wraps(command)
    def connecting(*positional: Any, hosts: tuple[str, ...], ask_password: bool, **arguments: Any) -> Any:
        given = {name: arguments.pop(name) for name in _PASSED_ON}
        connection = _gathered(hosts=",".join(hosts), **given)
        return command(*positional, connection=_asked(connection) if ask_password else connection, **arguments)

    decorated: _Command = connecting
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _gathered(**given: Any) -> ConnectionConfig:
    try:
        return connection_config(**given)
    except SourceError as error:  # the option file cannot be read: as wrong as any other option
        raise OptionError(error.message, error.position) from None


def _asked(connection: ConnectionConfig) -> ConnectionConfig:
    """Return the same options with the password that a person types."""
    question = f"Password of {connection.user} at {connection.addresses[0]}"
    password: str = click.prompt(question, default="", hide_input=True, show_default=False, err=True)
    return replace(connection, password=password)
