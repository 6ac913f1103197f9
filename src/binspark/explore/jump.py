"""Where a text leads: a position, a GTID, or a time."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from binspark.errors import OptionError
from binspark.explore.explorer import Explorer
from binspark.explore.search import Cursor, search

_POSITION = re.compile(r"(?:(?P<file>[^:]+):)?(?P<offset>\d+)$")
_MYSQL_GTID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?::[A-Za-z_]\w*)?:\d+$")
_MARIADB_GTID = re.compile(r"\d+-\d+-\d+$")
_MAX_SECONDS = 60.0
_SECOND = 1_000_000


def jump(explorer: Explorer, text: str, current_log: int = 0) -> dict[str, Any]:
    """Return the log, the unit and the position of what a text names. A number is a position in the current log."""
    text = text.strip()
    if _MYSQL_GTID.match(text) or _is_mariadb_gtid(text):
        return _to_gtid(explorer, text)
    position = _POSITION.match(text)
    if position is not None:
        number = current_log if position["file"] is None else explorer.log_number(position["file"])
        return _to_position(explorer, number, int(position["offset"]))
    return _to_time(explorer, text)


def _is_mariadb_gtid(text: str) -> bool:
    """Return whether a text is a GTID of MariaDB; 2024-01-31 is a day."""
    if _MARIADB_GTID.match(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return True
    return False


def _to_position(explorer: Explorer, number: int, offset: int) -> dict[str, Any]:
    unit = explorer.unit_at(number, offset)
    return _found(explorer, number, unit.number, offset)


def _to_gtid(explorer: Explorer, text: str) -> dict[str, Any]:
    found = search(explorer, "gtid", text, Cursor(), _MAX_SECONDS)
    if not found.hits:
        raise OptionError(f"no transaction in these logs has the GTID {text}")
    hit = found.hits[0]
    return _to_position(explorer, hit["log"], hit["pos"])


def _to_time(explorer: Explorer, text: str) -> dict[str, Any]:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        expected = "a position such as binlog.000001:4, a GTID, or a time such as 2024-01-31 12:00:00"
        raise OptionError(f"cannot find {text}: expected {expected}") from None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    found = explorer.unit_at_time(int(time.timestamp() * _SECOND))
    if found is None:
        raise OptionError(f"no transaction was committed at {text} or later")
    number, unit = found
    return _found(explorer, number, unit.number, unit.start)


def _found(explorer: Explorer, number: int, unit: int, offset: int) -> dict[str, Any]:
    name = explorer.log(number).name
    return {"log": number, "name": name, "unit": explorer.number_of(number, unit), "pos": offset}
