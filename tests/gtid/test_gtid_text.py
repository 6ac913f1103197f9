"""The text of a GTID set: what is accepted, what is printed, and the errors with their offsets."""

from __future__ import annotations

import pytest

from binspark.errors import Malformed
from binspark.gtid import MAX_NUMBER, GtidSet

A = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
B = "aaaaaaaa-3005-11f0-8be8-0242ac150002"

TAKEN = {
    "": "",
    " \n": "",
    ", ,": "",
    A: "",
    f"{A}:tag": "",
    f"{A}:5-1": "",
    f"{A}:1-0": "",
    f"{A}:1-5,": f"{A}:1-5",
    f",{A}:1": f"{A}:1",
    f"{A}:1,,\n {B}:2": f"{B}:2,{A}:1",
    f" {A} : 1 - 5 : 7 ": f"{A}:1-5:7",
    f"{A}\n:1\n-\t5\r\v\f": f"{A}:1-5",
    f"{A}:01:010": f"{A}:1:10",
    f"{A}:{'0' * 5000}1": f"{A}:1",
    A.upper() + ":1": f"{A}:1",
    A.replace("-", "") + ":1": f"{A}:1",
    "{" + A + "}:1": f"{A}:1",
    f"{A}:3:1:2": f"{A}:1-3",
    f"{A}:1-5:3-9": f"{A}:1-9",
    f"{A}:1-2:3-4": f"{A}:1-4",
    f"{A}:1,{B}:1,{A}:2": f"{B}:1,{A}:1-2",
    f"{A}:1-{MAX_NUMBER}": f"{A}:1-{MAX_NUMBER}",
    f"{A}:TAG:1": f"{A}:tag:1",
    f"{A}: tag : 1": f"{A}:tag:1",
    f"{A}:tag:tag2:1": f"{A}:tag2:1",
    f"{A}:b:1:a:2:1": f"{A}:a:1-2:b:1",
    f"{A}:a:1,{A}:3": f"{A}:3:a:1",
    f"{A}:a_b:1:a0:1:aa:1:A:2:_:1": f"{A}:_:1:a:2:a0:1:a_b:1:aa:1",
    f"{A}:{'a' * 32}:1": f"{A}:{'a' * 32}:1",
}

REFUSED = {
    "x": 0,
    ":1": 0,
    "1-5": 0,
    f"+{A}:1": 0,
    "{" + A + ":1": 0,
    f"{A}:": 37,
    f"{A}:1-5: ": 42,
    f"{A}::1": 37,
    f"{A}:0": 37,
    f"{A}:-5": 37,
    f"{A}:+5": 37,
    f"{A}:0x10": 37,
    f"{A}:1-": 39,
    f"{A}:1--5": 39,
    f"{A}:1-5-7": 40,
    f"{A}:1 2": 39,
    f"{A}:1;2": 38,
    f"{A}:1\0": 38,
    f"{A}:1\u00a0": 38,
    f"{A}:9x:1": 38,
    f"{A}:{'a' * 33}:1": 37,
    f"{A}:é:1": 37,
    f"{A}:\u212a:1": 37,
    f"{A}:١": 37,
    f"{A}}}:1": 36,
    f"{A}0:1": 36,
    f"{A}:{MAX_NUMBER + 1}": 37,
    f"{A}:5-{MAX_NUMBER + 1}": 39,
    f"{A}:5-99999999999999999999": 39,
    f"{A}:99999999999999999999": 37,
}


@pytest.mark.parametrize("text", TAKEN)
def test_every_form_is_printed_in_normal_form(text: str) -> None:
    assert str(GtidSet(text)) == TAKEN[text]


@pytest.mark.parametrize("text", REFUSED)
def test_an_error_shows_the_offset(text: str) -> None:
    with pytest.raises(Malformed, match=f"invalid GTID set: expected .* at offset {REFUSED[text]}, marked \\[HERE\\]"):
        GtidSet(text)


def test_the_offset_is_marked_in_a_long_text_too() -> None:
    text = f"{A}:1-5:7:x!," + ",".join(f"{A}:{number}" for number in range(1, 1000))
    with pytest.raises(Malformed, match=r"0242ac150002:1-5:7:x\[HERE\]!,b8ae2fd2.*…"):
        GtidSet(text)


def test_the_server_breaks_the_line_after_each_uuid() -> None:
    executed = GtidSet(f"{A}:1:t:2,{B}:3")
    assert executed.server_text() == f"{B}:3,\n{A}:1:t:2"
    assert GtidSet(executed.server_text()) == executed
