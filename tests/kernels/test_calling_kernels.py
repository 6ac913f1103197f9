"""Python calls kernels as machine code: what they take and return, and that this needs no Numba later on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import binspark
from binspark.errors import Unsupported
from binspark.folders import UnsafeCacheWarning
from binspark.kernels import machine_code
from binspark.kernels.compiler import Headway, Kernel, callback_address, is_kept, kernel
from binspark.kernels.machine_code import MachineCode
from binspark.kernels.memory import call_writer, load8

LOG = Path(binspark.__file__).parent / "data" / "shop" / "mysql" / "binlog.000003"
READ_BATCHES = """
import sys
import binspark
print(sum(batch.num_rows for batch in binspark.batches(sys.argv[1], table="shop.orders")), "numba" in sys.modules)
"""


@kernel
def second(numbers: np.ndarray, row: int) -> int:
    return int(numbers[row, 1])


@kernel
def double_all(numbers: np.ndarray) -> None:
    for index in range(len(numbers)):
        numbers[index] *= 2


@kernel
def is_even(number: int) -> bool:
    return number % 2 == 0


@kernel
def halves(number: int) -> tuple[int, int]:
    return number >> 32, number & 0xFFFFFFFF


@kernel
def as_float(number: int) -> float:
    return number / 2


def add_three(first: int, second: int, third: int, fourth: int) -> int:
    return first + second + third + int(load8(fourth))


@kernel
def through_address(function: int, source: int) -> int:
    return int(call_writer(function, 1, 2, 3, source))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.float64])
def test_a_kernel_takes_arrays_of_any_numbers(dtype: Any) -> None:
    numbers = np.arange(5, dtype=dtype)
    double_all(numbers)
    assert numbers.tolist() == [0, 2, 4, 6, 8]


def test_a_kernel_takes_arrays_of_more_dimensions() -> None:
    assert second(np.arange(12, dtype=np.int64).reshape(4, 3), cast(int, np.int64(2))) == 7


def test_a_kernel_returns_truth_values_and_tuples() -> None:
    assert is_even(4) is True
    assert is_even(-3) is False
    assert halves((7 << 32) + 9) == (7, 9)


def test_a_kernel_is_called_by_its_address() -> None:
    source = np.array([40], dtype=np.uint8)
    assert through_address(callback_address(add_three), source.ctypes.data) == 46


def test_what_a_kernel_cannot_take_or_return_is_an_error() -> None:
    with pytest.raises(TypeError, match="contiguous"):
        double_all(np.arange(10)[::2])
    with pytest.raises(TypeError, match="float"):
        is_even(cast(int, 2.5))
    with pytest.raises(TypeError, match="returns a number, a truth value or nothing, not float64"):
        as_float(3)


def test_code_that_was_kept_is_found_and_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    first, again = Kernel(_product), Kernel(_product)
    assert not is_kept(first)
    assert first(6, 7) == 42
    assert is_kept(first)
    found = machine_code.find(first.name, ("word", "word"))
    assert isinstance(found, MachineCode)
    assert machine_code.load(found)
    assert again(6, 7) == 42


def _product(left: int, right: int) -> int:
    return left * right


def test_a_file_that_was_changed_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = MachineCode("f", "word", 1, 1, b"object file")
    machine_code.keep("module.f", ("word",), code)
    assert machine_code.find("module.f", ("word",)) == code
    (file,) = machine_code.kernel_folder().iterdir()
    kept = file.read_bytes()
    other_symbol = kept.replace(b'"symbol": "f"', b'"symbol": "g"')
    assert other_symbol != kept
    for damaged in (kept[:-1], b"", b"{}\nobject file", b"[]\n", b"\xff\n", other_symbol):
        file.write_bytes(damaged)
        assert machine_code.find("module.f", ("word",)) is None


def test_code_of_another_kernel_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    machine_code.keep("module.f", ("word",), MachineCode("f", "word", 1, 1, b"object file"))
    (file,) = machine_code.kernel_folder().iterdir()
    file.rename(file.with_name(file.name.replace("module.f", "module.g")))
    assert machine_code.find("module.g", ("word",)) is None


def test_a_file_that_others_can_write_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = MachineCode("f", "word", 1, 1, b"object file")
    machine_code.keep("module.f", ("word",), code)
    (file,) = machine_code.kernel_folder().iterdir()
    file.chmod(0o666)
    with pytest.warns(UnsafeCacheWarning, match=r"module\.f.* can be written to by others \(mode 0666\)"):
        assert machine_code.find("module.f", ("word",)) is None
    assert machine_code.find("module.f", ("word",)) is None  # without another warning
    machine_code.keep("module.f", ("word",), code)
    assert machine_code.find("module.f", ("word",)) == code


def test_a_link_is_not_loaded_and_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = MachineCode("f", "word", 1, 1, b"object file")
    machine_code.keep("module.f", ("word",), code)
    (file,) = machine_code.kernel_folder().iterdir()
    elsewhere = file.rename(tmp_path / "elsewhere")
    file.symlink_to(elsewhere)
    kept = elsewhere.read_bytes()
    assert machine_code.find("module.f", ("word",)) is None
    machine_code.keep("module.f", ("word",), MachineCode("g", "word", 1, 1, b"object file"))
    assert elsewhere.read_bytes() == kept


def test_a_second_process_reads_batches_without_numba() -> None:
    command = [sys.executable, "-c", READ_BATCHES, str(LOG)]
    outputs = [subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True) for _ in range(2)]
    rows = [output.stdout.split()[0] for output in outputs]
    assert rows[0] == rows[1] != "0"
    assert outputs[1].stdout.split()[1] == "False"


def test_a_kernel_that_gets_further_may_stop_any_number_of_times() -> None:
    headway = Headway(allowed=0)
    assert all(headway.reaches(event, row) for event in range(10) for row in range(10))


def test_a_kernel_that_stops_at_places_in_turns_does_not_get_further() -> None:
    headway = Headway(allowed=2)
    assert [headway.reaches(place) for place in (1, 2, 1, 2, 1)] == [True, True, True, True, False]


def test_lack_of_progress_is_an_error() -> None:
    headway = Headway(allowed=1)
    headway.check(5)
    headway.check(5)
    with pytest.raises(Unsupported, match="2 attempts did not get past it"):
        headway.check(5)
