"""One transaction's name in MySQL: who, under which tag, which number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from binspark.errors import Malformed
from binspark.gtid.names import ANY_UUID, MAX_NUMBER, NUMBER, SPACE, TAG, is_normal, normal_tag, normal_uuid, shown

_GTID = re.compile(rf"{SPACE}({ANY_UUID}){SPACE}:{SPACE}(?:({TAG}){SPACE}:{SPACE})?{NUMBER}{SPACE}")


@dataclass(frozen=True, slots=True)
class Gtid:
    """A MySQL GTID. `uuid` and `tag` are in normal form (`Gtid.parse` makes it); no tag is the empty text.

    >>> Gtid.parse("B8AE2FD2-3005-11F0-8BE8-0242AC150002:Nightly:7")
    Gtid(uuid='b8ae2fd2-3005-11f0-8be8-0242ac150002', number=7, tag='nightly')
    """

    uuid: str
    number: int
    tag: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.number <= MAX_NUMBER:
            raise Malformed(f"{self.number} is not the number of a GTID: they go from 1 to {MAX_NUMBER}")
        if not is_normal(self.uuid, self.tag):
            raise Malformed(f"{shown(self.uuid)} and {shown(self.tag)} are not a UUID and a tag in normal form")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `uuid:number` or `uuid:tag:number`."""
        match = _GTID.fullmatch(text)
        if not match:
            raise Malformed(f"{shown(text)} is not a GTID: uuid:number or uuid:tag:number")
        uuid, tag, number = match.groups()
        return cls(normal_uuid(uuid), int(number), normal_tag(tag or ""))

    @property
    def source(self) -> tuple[str, str]:
        """Whose numbers these are: UUID and tag."""
        return self.uuid, self.tag

    def __str__(self) -> str:
        return f"{self.uuid}:{self.tag}:{self.number}" if self.tag else f"{self.uuid}:{self.number}"

    def __lt__(self, other: Gtid) -> bool:
        """Order as the server prints a set: by UUID, then by tag, then by number."""
        return (self.uuid, self.tag, self.number) < (other.uuid, other.tag, other.number)
