"""Parts of a script: their order, their settings, and text that means the same in every sql_mode."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from binspark.sql.blocks import ForwardBlocks, ReversedBlocks
from binspark.sql.quoting import quoted_name, text_literal
from binspark.sql.session import LENIENT, ROWS
from binspark.values.charsets import charset_of

UTF8MB4, LATIN1, UTF16, SWE7 = 255, 8, 54, 10


def test_an_undo_larger_than_a_block_comes_back_in_reverse_order() -> None:
    blocks = ReversedBlocks()
    lines = [b"%06d %s\n" % (number, b"x" * 100) for number in range(30_000)]
    for line in lines:
        blocks.add(line, ROWS)
    found = list(blocks.rest())
    assert len(found) > 2
    assert max(map(len, found)) < 2 << 20
    assert b"".join(found) == b"".join(reversed(lines))


def test_settings_are_those_of_each_part_in_both_directions() -> None:
    for blocks, expected in ((ForwardBlocks(), "a+b-c"), (ReversedBlocks(), "c+b-a")):
        for name, settings in ((b"a", ROWS), (b"b", LENIENT), (b"c", ROWS)):
            blocks.add(name, settings)
        text = b"".join(blocks.rest()).decode()
        lenient, strict = (line for line in text.split(";\n") if "SET" in line)
        assert "STRICT" not in lenient
        assert "STRICT" in strict
        shown = text.replace(f"{lenient[lenient.index('SET') :]};\n", "+").replace(f"{strict[1:]};\n", "-")
        assert shown == expected


@given(st.binary(max_size=40), st.sampled_from([UTF8MB4, LATIN1, UTF16, SWE7]))
def test_literals_have_neither_backslashes_nor_open_quotes(raw: bytes, collation: int) -> None:
    literal = text_literal(raw, collation)
    assert "\\" not in literal
    assert "\n" not in literal
    if literal.startswith("_"):
        assert literal == f"_{charset_of(collation)} X'{raw.hex().upper()}'"
    else:
        assert literal[0] == literal[-1] == "'"
        assert "'" not in literal[1:-1].replace("''", "")


@given(st.text(max_size=20))
def test_names_are_quoted_so_that_they_end_where_they_should(name: str) -> None:
    quoted = quoted_name(name)
    assert quoted[0] == quoted[-1] == "`"
    assert quoted[1:-1].replace("``", "").count("`") == 0
