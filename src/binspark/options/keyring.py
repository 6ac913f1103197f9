"""The options that everything that reads log files has: keys of encrypted ones, and a limit for compressed ones."""

from __future__ import annotations

import os
from typing import Any

from binspark.options.option import Option, Surface
from binspark.options.values import InvalidValue, size


def _file(value: Any) -> str:
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise InvalidValue("the name of a file", value)
    return str(os.fspath(value))


KEYRING = Option(
    name="keyring", parse=_file, metavar="FILE",
    help="The keys for encrypted logs: MySQL's keyring file (component_keyring_file, keyring_file), or MariaDB's key "
    "file (file_key_management).",
)  # fmt: skip
KEYRING_PASSWORD_FILE = Option(
    name="keyring_password_file", parse=_file, metavar="FILE",
    help="The file with the password of a key file of MariaDB that is encrypted itself.",
)  # fmt: skip
KEYRING_OPTIONS = (KEYRING, KEYRING_PASSWORD_FILE)
MAX_PAYLOAD_BYTES = Option(
    name="max_payload_bytes", parse=size, metavar="SIZE", default="512m",
    spelling={Surface.PYTHON: "set_max_payload_bytes()"},
    help="Refuse a compressed transaction (MySQL), or a compressed event or value (MariaDB), that becomes larger than "
    "this when it is decompressed.",
)  # fmt: skip
LOG_OPTIONS = (*KEYRING_OPTIONS, MAX_PAYLOAD_BYTES)
