"""What a mirrored table knows of itself. It is stored in the same commit as the rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from binspark.errors import SchemaError
from binspark.replication.position import BinlogPosition

_FORMAT = 1


class Phase(StrEnum):
    """How far a table is.

    SNAPSHOT   its rows are being copied, and are not in the table yet: it has its earlier ones, or none
    CATCH_UP   all rows were copied, at different moments: with the changes up to `consistent_from` it is consistent
    CURRENT    it is what the source had at its position
    DROPPED    the source has dropped it; its rows stay
    """

    SNAPSHOT = "snapshot"
    CATCH_UP = "catch-up"
    CURRENT = "current"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class StagedCopy:
    """A copy of a table's rows that is being made. No version of the table has its files before all of them are there.

    directory    what the copy has so far is recorded there, below the directory of the table
    position     where the changes begin that are applied to it
    definition   the definition of the source's table then: JSON of `schema.as_json`
    began        when, in seconds since 1970: younger files of the table may belong to it
    """

    directory: str
    position: BinlogPosition
    definition: str
    began: int

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "directory": self.directory,
            "position": self.position.to_json(),
            "definition": self.definition,
            "began": self.began,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> StagedCopy:
        """Return the copy of a JSON form."""
        return cls(
            directory=fields["directory"],
            position=BinlogPosition.from_json(fields["position"]),
            definition=fields["definition"],
            began=fields["began"],
        )


@dataclass(frozen=True, slots=True)
class TableState:
    """The state of a mirrored table, as of one version of it.

    mirror           the id of the mirror that writes the table; another must not
    phase            how far it is
    position         all changes before it are in the table, and none after it
    definition       the definition of the source's table at the position: JSON of `schema.as_json`; of the history,
                     the definitions that tables have in the log there, where the mirror may have later ones
    key              the names of the key's columns; empty for a table without a key
    staged           the copy that will replace the rows of the table, during a snapshot
    consistent_from  the position from which on a table is consistent, after a snapshot
    pending          a schema change that the position is after, but that has yet to be made: the new definition
    has_versions     whether the table has all versions of the rows of another
    copied           when the copy of its rows began, in seconds since 1970, as long as no change was made to it
    abandoned        whether its copy was given up since the source no longer has it, and the log is yet to say so
    """

    mirror: str
    phase: Phase
    position: BinlogPosition
    definition: str
    key: tuple[str, ...]
    staged: StagedCopy | None = None
    consistent_from: BinlogPosition | None = None
    pending: str | None = None
    has_versions: bool = False
    copied: int | None = None
    abandoned: bool = False

    @property
    def reads_from(self) -> BinlogPosition:
        """The position from which on the log matters for the table."""
        return self.position if self.staged is None else self.staged.position

    def moved(self, position: BinlogPosition) -> TableState:
        """Return the state after changes up to a position."""
        is_consistent = self.consistent_from is None or position.reaches(self.consistent_from)
        if self.phase is Phase.CATCH_UP and is_consistent:
            return replace(self, position=position, phase=Phase.CURRENT, consistent_from=None, copied=None)
        return replace(self, position=position, copied=None)

    def to_json(self) -> str:
        """Return the state as JSON."""
        fields: dict[str, Any] = {
            "format": _FORMAT,
            "mirror": self.mirror,
            "phase": self.phase,
            "position": self.position.to_json(),
            "definition": self.definition,
            "key": self.key,
            "staged": self.staged and self.staged.to_json(),
            "consistent_from": self.consistent_from and self.consistent_from.to_json(),
            "pending": self.pending,
            "has_versions": self.has_versions,
            "copied": self.copied,
            "abandoned": self.abandoned,
        }
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> TableState:
        """Return the state of a JSON text."""
        try:
            fields = json.loads(text)
            if fields["format"] != _FORMAT:
                raise SchemaError(f"the state of the mirror has format {fields['format']!r}, expected {_FORMAT!r}")
            consistent_from, staged = fields["consistent_from"], fields["staged"]
            return cls(
                mirror=fields["mirror"],
                phase=Phase(fields["phase"]),
                position=BinlogPosition.from_json(fields["position"]),
                definition=fields["definition"],
                key=tuple(fields["key"]),
                staged=None if staged is None else StagedCopy.from_json(staged),
                consistent_from=None if consistent_from is None else BinlogPosition.from_json(consistent_from),
                pending=fields["pending"],
                has_versions=fields["has_versions"],
                copied=fields["copied"],
                abandoned=fields["abandoned"],
            )
        except (ValueError, KeyError, TypeError) as error:
            raise SchemaError(f"the state of the mirror cannot be read: {error!r}") from None
