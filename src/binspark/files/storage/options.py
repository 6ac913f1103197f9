"""How a log is reached: options, the credentials of a URI, the keys of its encryption. Their values are never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

if TYPE_CHECKING:
    from binspark.encryption.keyring import Keyring

_SECRET = re.compile(r"key|secret|token|pass|credential|auth(?!ority)|sas|signature", re.IGNORECASE)
_HIDDEN = "***"
# A secret shorter than this may be part of a word by chance: it is hidden only as a word of its own.
_SHORT = 8

Option = str | int | float | bool


@dataclass(frozen=True, slots=True, repr=False)
class Storage:
    """How the storage of a log is reached. It is sent along with a log to the process that opens it.

    options   arguments of pyarrow's file system for the scheme (`region`, `endpoint_override`, …), or of fsspec's
    user      what a URI has before its host: `key:secret`
    query     what a URI has after its path: `region=eu-west-1`
    keyring   the keys of the server, if its logs are encrypted
    """

    options: tuple[tuple[str, Option], ...] = ()
    user: str = ""
    query: str = ""
    keyring: Keyring | None = None

    @classmethod
    def of(cls, options: Mapping[str, Option], keyring: Keyring | None = None) -> Storage:
        """Return a storage with these options."""
        return cls(tuple(sorted(options.items())), keyring=keyring)

    def with_uri(self, user: str, query: str) -> Storage:
        """Return this storage with the user and query of a URI added."""
        return replace(self, user=user or self.user, query=query or self.query)

    def with_keyring(self, keyring: Keyring | None) -> Storage:
        """Return this storage with the keys of a server."""
        return replace(self, keyring=keyring)

    def all_options(self) -> dict[str, Option]:
        """Return the options together with those in the URI's query, which an option of the same name overrides."""
        return {**dict(parse_qsl(self.query)), **dict(self.options)}

    def redact(self, text: str) -> str:
        """Return a text with every secret in it replaced by `***`."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            pattern = re.escape(secret) if len(secret) >= _SHORT else rf"(?<!\w){re.escape(secret)}(?!\w)"
            text = re.sub(pattern, _HIDDEN, text)
        return text

    def __repr__(self) -> str:
        names = [name for name, _ in self.options] + ["user"] * bool(self.user) + ["query"] * bool(self.query)
        names += ["keyring"] * (self.keyring is not None)
        return f"Storage({', '.join(f'{name}={_HIDDEN}' for name in names)})"

    def _secrets(self) -> set[str]:
        named = {str(value) for name, value in self.all_options().items() if _SECRET.search(name)}
        passwords = {self.user, self.user.partition(":")[2], self.query}
        plain = named | passwords
        return {secret for secret in plain | {unquote(secret) for secret in plain} if secret}


NO_OPTIONS = Storage()

_keyring: ContextVar[Keyring | None] = ContextVar("keyring", default=None)


@contextmanager
def default_keyring(keyring: Keyring | None) -> Iterator[None]:
    """Use a keyring for all logs that are found in the block and have none of their own."""
    token = _keyring.set(keyring)
    try:
        yield
    finally:
        _keyring.reset(token)


def with_default_keyring(storage: Storage | None) -> Storage:
    """Return a storage with the keyring of `default_keyring`, unless it has one."""
    storage, keyring = storage or NO_OPTIONS, _keyring.get()
    return storage if keyring is None or storage.keyring is not None else storage.with_keyring(keyring)
