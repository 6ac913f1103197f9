"""Kernels and reference print the same text, in any chunks, and leave to Python what only it can print."""

from __future__ import annotations

import base64
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.dump.mysql import bulk, bulk_payloads, frames
from binspark.kernels.mariadb_binlog.base64 import write_base64
from binspark.kernels.mysqlbinlog.exact import write_exact
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from tests.corpus.cases import corpus_logs, log_id
from tests.support.dump import first_difference, our_dump

LOGS = corpus_logs("mysql", truncated=True)
OPTIONS = ((), ("-vv",), ("-v", "--base64-output=decode-rows"))


@pytest.fixture
def by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print logs of any size by kernels, in small buffers."""
    monkeypatch.setattr(frames, "MIN_BULK_BYTES", 0)
    for name in ("_INPUT_BYTES", "_BODY_BYTES", "_FOOTER_BYTES"):
        monkeypatch.setattr(bulk, name, 1000)
    monkeypatch.setattr(bulk, "_OUTPUT_BYTES", 10_000)
    monkeypatch.setattr(bulk_payloads, "CHUNK_BYTES", 1000)


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_kernels_print_what_the_reference_prints(log: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    local = ("--local-load", f"{tmp_path}/")
    expected = [without_load_files(our_dump([log], *options, *local)) for options in OPTIONS]
    request.getfixturevalue("by_kernels")
    for options, text in zip(OPTIONS, expected, strict=True):
        ours = without_load_files(our_dump([log], *options, *local))
        assert first_difference(ours, text) == "", options


def test_a_dump_by_kernels_stops_where_the_reference_does(request: pytest.FixtureRequest) -> None:
    log = next(log for log in LOGS if log_id(log).startswith("mysql/format-row/"))
    positions = [int(part.split(b"\n")[0]) for part in our_dump([log]).split(b"\n# at ")[2:]]
    stops = [("--stop-position", str(position)) for position in positions[::3]]
    stops.append(("--stop-datetime", "2026-11-15 08:54:59"))
    expected = [our_dump([log], *stop) for stop in stops]
    request.getfixturevalue("by_kernels")
    assert [our_dump([log], *stop) for stop in stops] == expected


@given(st.binary(max_size=400))
def test_base64_is_that_of_python(data: bytes) -> None:
    source = np.frombuffer(data + bytes(16), np.uint8)
    output = np.zeros(2 * len(data) + 64, np.uint8)
    length = write_base64(output.ctypes.data, source.ctypes.data, len(data)) - output.ctypes.data
    assert output[:length].tobytes() == base64.encodebytes(data)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([6, 20]))
def test_doubles_have_the_digits_that_c_prints(number: float, precision: int) -> None:
    output = np.zeros(512, np.uint8)
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    length = write_exact(output.ctypes.data, bits, precision) - output.ctypes.data
    assert output[:length].tobytes().decode() == f"%.{precision}g" % number


def without_load_files(text: bytes) -> bytes:
    return b"\n".join(line for line in text.split(b"\n") if b"LOCAL INFILE" not in line)


def test_what_prints_logs_of_mysql_is_imported_without_numpy_and_numba() -> None:
    modules = "binspark.cli.dump, binspark.dump.run, binspark.dump.mysql.dumper, binspark.dump.mysql.bulk"
    script = f"import sys, {modules}; print(*{{'numpy', 'numba', 'pyarrow'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_rows_with_too_much_text_for_a_kernel_are_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = BinlogBuilder()
    items = table("shop.items", *(integer(f"c{number}") for number in range(40)))
    builder.transaction(insert(items, *((None,) * 40 for _ in range(100))), insert(items, (1,) * 40))
    builder.stop()
    (log,) = builder.save(tmp_path)
    expected = our_dump([log], "-v")
    assert expected.count(b"###   @40=NULL") == 100
    monkeypatch.setattr(frames, "MIN_BULK_BYTES", 0)
    monkeypatch.setattr(bulk, "_FOOTER_BYTES", 10_000)
    monkeypatch.setattr(bulk, "_MAX_FOOTER_BYTES", 20_000)
    assert our_dump([log], "-v") == expected
