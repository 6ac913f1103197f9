"""One transaction's name in MariaDB: which domain, who, which number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from binspark.errors import Malformed
from binspark.gtid.names import SPACE, refuse, shown

_MAX_U32 = (1 << 32) - 1
_MAX_U64 = (1 << 64) - 1

_NUMBER = rf"{SPACE}\+?0*([0-9]{{1,20}})(?![0-9])"
_GTID = re.compile(rf"{_NUMBER}-{_NUMBER}-{_NUMBER}{SPACE}")


@dataclass(frozen=True, slots=True, order=True)
class MariadbGtid:
    """A MariaDB GTID: `0-1-42` is number 42 of domain 0, written by server 1."""

    domain: int
    server: int
    sequence: int

    def __post_init__(self) -> None:
        in_range = 0 <= self.domain <= _MAX_U32 and 0 <= self.server <= _MAX_U32 and 0 <= self.sequence <= _MAX_U64
        if not in_range:
            raise Malformed(f"{self} is not a MariaDB GTID: its parts have 32, 32 and 64 bits")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `domain-server-sequence`."""
        match = _GTID.fullmatch(text)
        if not match:
            raise Malformed(f"{shown(text)} is not a MariaDB GTID: domain-server-sequence")
        domain, server, sequence = match.groups()
        return cls(int(domain), int(server), int(sequence))

    @property
    def age(self) -> tuple[int, int]:
        """What decides which of two GTIDs of a domain is newer: the number; the server only breaks a tie."""
        return self.sequence, self.server

    def __str__(self) -> str:
        return f"{self.domain}-{self.server}-{self.sequence}"


def parse_list(text: str) -> Iterator[MariadbGtid]:
    """Parse GTIDs with a comma between each two, in the order of the text; nothing but space is an empty list.

    The server allows space and a plus sign before each number. Space at the end, which it refuses, is allowed too:
    these texts are often read from files.
    """
    offset = 0
    more = bool(text.strip(" \t\n\v\f\r"))
    while more:
        match = _GTID.match(text, offset)
        if not match:
            raise refuse(text, offset, "a MariaDB GTID, domain-server-sequence,")
        domain, server, sequence = map(int, match.groups())
        if domain > _MAX_U32 or server > _MAX_U32 or sequence > _MAX_U64:
            raise refuse(text, offset, "parts of 32, 32 and 64 bits")
        yield MariadbGtid(domain, server, sequence)
        more = text.startswith(",", match.end())
        offset = match.end() + 1
        if not more and match.end() < len(text):
            raise refuse(text, match.end(), "a comma or the end")
