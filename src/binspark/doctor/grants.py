"""What SHOW GRANTS says: the privileges that a session has on everything."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_ON_EVERYTHING = re.compile(r"GRANT (.+?) ON \*\.\* TO ")
_ROLES = re.compile(r"GRANT ((?:`[^`]*`(?:@`[^`]*`)?,?)+) TO ")
_EVERYTHING = "ALL PRIVILEGES"


@dataclass(frozen=True, slots=True)
class Grants:
    """What a session may do.

    privileges  those on *.*, those of its active roles with them
    roles       roles that its user was granted, active or not, as the server writes them
    """

    privileges: frozenset[str]
    roles: tuple[str, ...] = ()

    def any_of(self, *names: str) -> bool:
        """Return whether one of these privileges is there."""
        return _EVERYTHING in self.privileges or not self.privileges.isdisjoint(names)


def read_grants(lines: Iterable[str]) -> Grants:
    """Read the lines of SHOW GRANTS. MariaDB writes the hash of the password there too: nothing of it is kept."""
    privileges: set[str] = set()
    roles: list[str] = []
    for line in lines:
        if found := _ON_EVERYTHING.match(line):
            privileges |= {name.strip().upper() for name in found[1].split(",")}
        elif found := _ROLES.match(line):
            roles += found[1].split(",")
    return Grants(frozenset(privileges), tuple(roles))


def quoted_account(account: str) -> str:
    """Return what CURRENT_USER() says as a statement has to write it: `user`@`host`."""
    user, _, host = account.rpartition("@")
    return f"{quoted(user)}@{quoted(host)}"


def quoted(name: str) -> str:
    """Return a name as a statement has to write it."""
    return "`" + name.replace("`", "``") + "`"
