"""What an event can mean for the transaction around it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from binspark.transactions.transaction import Ending


class Role(StrEnum):
    """The part that an event plays.

    IDENTIFIES  a transaction begins, and this is its name
    BEGINS      a transaction begins; belongs to the name before it
    WRAPS       the events that follow inside are a transaction, or the rest of one
    INSIDE      a transaction is under way and goes on
    PREPARES    belongs to the statement that follows
    STATEMENT   a statement; the whole transaction where none was begun
    ENDS        the transaction ends
    JOINS       belongs to the transaction that is open, if one is
    OUTSIDE     belongs to the log, never to a transaction
    BREAKS      a log begins or ends: in a server's own log no transaction survives it
    """

    IDENTIFIES = "identifies"
    BEGINS = "begins"
    WRAPS = "wraps"
    INSIDE = "inside"
    PREPARES = "prepares"
    STATEMENT = "statement"
    ENDS = "ends"
    JOINS = "joins"
    OUTSIDE = "outside"
    BREAKS = "breaks"


class Boundary(NamedTuple):
    """The role of an event, and the ending that it means where it ends its transaction."""

    role: Role
    ending: Ending | None = None
