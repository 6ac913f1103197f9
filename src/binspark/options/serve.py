"""The options of serving an archive."""

from __future__ import annotations

import os

from binspark.options import values
from binspark.options.option import Option, Surface

_NOT_IN_SPARK = frozenset({Surface.COMMAND_LINE, Surface.PYTHON})
_MAX_SERVER_ID = (1 << 32) - 1


def _path(value: str | os.PathLike[str]) -> str:
    return os.fspath(value)


SERVE_OPTIONS = (
    Option(
        name="bind", parse=values.text, metavar="ADDRESS", surfaces=_NOT_IN_SPARK, default="127.0.0.1",
        help="The address to listen on. Any but a loopback address requires a password.",
    ),
    Option(
        name="port", short="-P", parse=values.integer_in(0, 65535), metavar="NUMBER", surfaces=_NOT_IN_SPARK,
        default="3306", help="The port to listen on; 0 for any that is free.",
    ),
    Option(
        name="user", short="-u", parse=values.text, metavar="NAME", surfaces=_NOT_IN_SPARK, default="repl",
        help="The user that clients connect as.",
    ),
    Option(
        name="password_file", parse=_path, metavar="FILE", surfaces=_NOT_IN_SPARK, default="no password",
        help="A file with the password of that user in its first line.",
    ),
    Option(
        name="server_id", parse=values.integer_in(1, _MAX_SERVER_ID), metavar="NUMBER", surfaces=_NOT_IN_SPARK,
        default="that of the server that wrote the logs",
        help="The server id that clients see. It must differ from the id of every replica.",
    ),
    Option(
        name="heartbeat_seconds", parse=values.seconds, metavar="SECONDS", surfaces=_NOT_IN_SPARK, default="never",
        help="How often an idle client that has requested no heartbeats gets one. Replicas request them.",
    ),
    Option(
        name="ssl_cert", parse=_path, metavar="FILE", surfaces=_NOT_IN_SPARK,
        default="one that is made at start, and that nobody has signed",
        help="The certificate that clients see (PEM).",
    ),
    Option(
        name="ssl_key", parse=_path, metavar="FILE", surfaces=_NOT_IN_SPARK, default="in the file of the certificate",
        help="The private key of the certificate (PEM).",
    ),
)  # fmt: skip
