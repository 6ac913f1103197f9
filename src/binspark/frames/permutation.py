"""Some pre-releases of MySQL 5.1 and 5.2 numbered their events differently.

They called themselves `5.1.1-a_drop5...` and alike, listed 22 event types, and put the row events before XID. A log of
theirs says nothing else about it; servers up to 5.7 recognised them by the version text, and so does this.
"""

from __future__ import annotations

import re

from binspark.frames.codes import EventCode as E

_PRE_RELEASE = re.compile(r"5\.(?:1\.[1-5]-a_drop5|1\.4-a_drop6|2\.[0-2]-a_drop6)")
_PRE_RELEASE_TYPES = 22

_PRE_RELEASE_CODES: tuple[int, ...] = (
    *range(E.UNKNOWN, E.FORMAT_DESCRIPTION + 1),
    E.TABLE_MAP,
    E.PRE_GA_WRITE_ROWS,
    E.PRE_GA_UPDATE_ROWS,
    E.PRE_GA_DELETE_ROWS,
    E.XID,
    E.BEGIN_LOAD_QUERY,
    E.EXECUTE_LOAD_QUERY,
)


def event_codes_of(server_version: str, listed_types: int) -> tuple[int, ...] | None:
    """Return today's code for each type code of this server, or None where they are the same."""
    if listed_types == _PRE_RELEASE_TYPES and _PRE_RELEASE.match(server_version):
        return _PRE_RELEASE_CODES
    return None
