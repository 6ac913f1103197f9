"""Whatever the bytes are, verify reports: it never raises, and never calls damage intact."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from binspark.testing.builder import MARIADB_10_11, MYSQL_3_23, MYSQL_4_1, MYSQL_9_7, ServerKind
from binspark.verify import Report, verify_logs
from tests.support.verify.logs import chain

SERVERS = pytest.mark.parametrize(
    "server", [MYSQL_3_23, MYSQL_4_1, MYSQL_9_7, MARIADB_10_11], ids=lambda server: server.server_version
)
CONTENTS = {server: chain(server, files=1).content for server in (MYSQL_3_23, MYSQL_4_1, MYSQL_9_7, MARIADB_10_11)}


def verify_content(content: bytes) -> Report:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "binlog.000001"
        path.write_bytes(content)
        return verify_logs(path)


@given(st.binary(max_size=200))
@example(b"\x28\xb5\x2f\xfd").via("the magic of zstd, and nothing after it")
@example(b"\x1f\x8b").via("the magic of gzip, and nothing after it")
def test_bytes_that_are_not_a_log_are_not_intact(content: bytes) -> None:
    assert not verify_content(content).ok


@given(st.binary(max_size=200))
def test_random_bytes_after_the_magic_are_not_intact(content: bytes) -> None:
    assert not verify_content(b"\xfebin" + content).ok


@SERVERS
@given(data=st.data())
def test_a_log_with_random_bytes_in_it_gets_a_report(server: ServerKind, data: st.DataObject) -> None:
    content = CONTENTS[server]
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 40)))
    damaged = content[:start] + data.draw(st.binary(max_size=40)) + content[end:]
    report = verify_content(damaged)
    assert report.files[0].sound_bytes <= len(damaged)


@given(data=st.data())
def test_a_changed_byte_of_a_log_with_checksums_is_always_found(data: st.DataObject) -> None:
    content = bytearray(CONTENTS[MYSQL_9_7])
    offset = data.draw(st.integers(0, len(content) - 1).filter(lambda offset: offset != 21))  # the flag in use
    content[offset] ^= data.draw(st.integers(1, 255))
    assert not verify_content(bytes(content)).ok
