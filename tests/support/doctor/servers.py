"""Checking real servers, and fixing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from binspark.doctor.read_profile import read_profile
from binspark.doctor.rule import Finding
from binspark.doctor.rules import find_problems
from binspark.server.config import connection_config
from binspark.server.connection import Connection, connect
from binspark.testing.servers import Server


@contextmanager
def connected(server: Server, user: str = "root", password: str = "") -> Iterator[Connection]:
    options = connection_config(host=f"127.0.0.1:{server.port}", user=user, password=password)
    with connect(options) as connection:
        yield connection


def findings(server: Server, user: str = "root", password: str = "") -> dict[str, Finding]:
    with connected(server, user, password) as connection:
        return {finding.code: finding for finding in find_problems(read_profile(connection))}


def apply_fixes(server: Server, found: Mapping[str, Finding]) -> None:
    for finding in found.values():
        server.run_sql(finding.fix)
