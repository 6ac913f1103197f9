"""The identifier of one transaction in MySQL: server, tag, number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from binspark.errors import Malformed
from binspark.gtid.syntax import ANY_UUID, MAX_NUMBER, NUMBER, SPACE, TAG, is_normal, normal_tag, normal_uuid, shown

_GTID = re.compile(rf"{SPACE}({ANY_UUID}){SPACE}:{SPACE}(?:({TAG}){SPACE}:{SPACE})?{NUMBER}{SPACE}")


@dataclass(frozen=True, slots=True)
class Gtid:
    """A MySQL GTID. `uuid` and `tag` are in normal form, as `Gtid.parse` returns them; without a tag it is "".

    >>> Gtid.parse("B8AE2FD2-3005-11F0-8BE8-0242AC150002:Nightly:7")
    Gtid(uuid='b8ae2fd2-3005-11f0-8be8-0242ac150002', number=7, tag='nightly')
    """

    uuid: str
    number: int
    tag: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.number <= MAX_NUMBER:
            raise Malformed(f"GTID number must be between 1 and {MAX_NUMBER}, got {self.number}")
        if not is_normal(self.uuid, self.tag):
            raise Malformed(f"expected a UUID and a tag in normal form, got {shown(self.uuid)} and {shown(self.tag)}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `uuid:number` or `uuid:tag:number`."""
        match = _GTID.fullmatch(text)
        if not match:
            raise Malformed(f"invalid GTID {shown(text)}, expected uuid:number or uuid:tag:number")
        uuid, tag, number = match.groups()
        return cls(normal_uuid(uuid), int(number), normal_tag(tag or ""))

    @property
    def source(self) -> tuple[str, str]:
        """The pair of UUID and tag whose sequence the number belongs to."""
        return self.uuid, self.tag

    def __str__(self) -> str:
        return f"{self.uuid}:{self.tag}:{self.number}" if self.tag else f"{self.uuid}:{self.number}"

    def __lt__(self, other: Gtid) -> bool:
        """Order as the server prints a set: by UUID, then by tag, then by number."""
        return (self.uuid, self.tag, self.number) < (other.uuid, other.tag, other.number)
