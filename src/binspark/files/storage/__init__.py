"""What a file system is told beside a path: options, and what a URI says of who asks. None of it is ever shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

_SECRET = re.compile(r"key|secret|token|pass|credential|auth(?!ority)|sas|signature", re.IGNORECASE)
_HIDDEN = "***"
_SHORT = 8
"""A secret below this length may be part of a word by chance, and is hidden only where it stands by itself."""

Option = str | int | float | bool


@dataclass(frozen=True, slots=True, repr=False)
class Storage:
    """How the store of a log is reached. It travels with a log to whoever opens it.

    options   for pyarrow's file system of the scheme (`region`, `endpoint_override`, …), or fsspec's
    user      what a URI names before the host, `key:secret`
    query     what a URI says behind the path, `region=eu-west-1`
    """

    options: tuple[tuple[str, Option], ...] = ()
    user: str = ""
    query: str = ""

    @classmethod
    def of(cls, options: Mapping[str, Option]) -> Storage:
        """Return the storage with these options."""
        return cls(tuple(sorted(options.items())))

    def with_uri(self, user: str, query: str) -> Storage:
        """Return this storage with what a URI adds to it."""
        return Storage(self.options, user or self.user, query or self.query)

    def asked(self) -> dict[str, Option]:
        """Return all options, those of the URI too; where both tell, the option counts."""
        return {**dict(parse_qsl(self.query)), **dict(self.options)}

    def redact(self, text: str) -> str:
        """Return a text without the secrets that it may quote."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            pattern = re.escape(secret) if len(secret) >= _SHORT else rf"(?<!\w){re.escape(secret)}(?!\w)"
            text = re.sub(pattern, _HIDDEN, text)
        return text

    def __repr__(self) -> str:
        names = [name for name, _ in self.options] + ["user"] * bool(self.user) + ["query"] * bool(self.query)
        return f"Storage({', '.join(f'{name}={_HIDDEN}' for name in names)})"

    def _secrets(self) -> set[str]:
        named = {str(value) for name, value in self.asked().items() if _SECRET.search(name)}
        passwords = {self.user, self.user.partition(":")[2], self.query}
        plain = named | passwords
        return {secret for secret in plain | {unquote(secret) for secret in plain} if secret}


NO_OPTIONS = Storage()
