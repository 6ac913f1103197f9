"""The servers' own log readers, run on a file without starting a server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from binspark.testing.servers import Family, ServerUnavailable
from binspark.testing.servers.programs import Programs, find_programs

ROWS_AS_TEXT = ("--verify-binlog-checksum", "--verbose", "--base64-output=decode-rows", "--force-if-open")


def reader_of(family: Family) -> Programs:
    """Return the programs of a family, or skip the test if they cannot be installed."""
    try:
        return find_programs(family)
    except ServerUnavailable as error:
        reason = f"{family.title} is not available: {error}"
    if os.environ.get("BINSPARK_REQUIRE_SERVERS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def printed(programs: Programs, log: Path) -> str:
    """Return what the family's reader prints of a log that it accepts."""
    done = programs.run(programs.family.log_reader, "--no-defaults", *ROWS_AS_TEXT, str(log))
    assert (done.returncode, done.stderr.decode()) == (0, "")
    return done.stdout.decode()


def refusal(programs: Programs, log: Path) -> str:
    """Return what the family's reader complains about in a log that it does not accept."""
    done = programs.run(programs.family.log_reader, "--no-defaults", *ROWS_AS_TEXT, str(log))
    assert done.returncode == 1
    return done.stderr.decode()
