"""Text in every character set, against the servers' own conversions: every byte, every pair, many longer ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from binspark.testing.servers import Server
from binspark.values.charsets import CODECS, Codec, Layout, charset_of, decode_text, encode_text
from binspark.values.charsets.collations import MAX_BYTES

COLLATIONS_OF = {
    "mysql": "SELECT id, character_set_name FROM information_schema.collations",
    "mariadb": "SELECT id, character_set_name FROM information_schema.collation_character_set_applicability",
}

BEGINNINGS = {
    "gb18030": ("", "8135", "8431", "9439", "E332"),
    "ujis": ("", "8F"),
    "eucjpms": ("", "8F"),
    "utf8mb3": ("", "ED", "F09F"),
    "utf8mb4": ("", "E0", "ED", "F09F", "F490"),
    "utf16": ("", "D83D"),
    "utf16le": ("", "3DD8"),
    "utf32": ("0000", "0001", "0011"),
}
"""What is put before each pair of bytes, to reach the characters of three and four bytes."""

LETTER = {"ucs2": b"\x00A", "utf16": b"\x00A", "utf16le": b"A\x00", "utf32": b"\x00\x00\x00A"}
"""What is put after: MySQL forgives eucjpms text that ends inside a character, but not inside a text."""

SURROGATE = b"\x00\x00\xd8\x00"
SURROGATES = frozenset(map(chr, range(0xD800, 0xE000)))

SAMPLE_CHARACTERS = 400


@pytest.fixture(
    scope="module",
    params=[pytest.param("mysql", marks=pytest.mark.mysql), pytest.param("mariadb", marks=pytest.mark.mariadb)],
)
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def cursor(server: Server) -> Iterator[Any]:
    """A session with the table `bytes_of_one`: each byte once."""
    every_byte = ", ".join(f"(x'{byte:02x}')" for byte in range(256))
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_mode = 'STRICT_ALL_TABLES'")
        cursor.execute("CREATE DATABASE charsets")
        cursor.execute("USE charsets")
        cursor.execute("CREATE TABLE bytes_of_one (b VARBINARY(1))")
        cursor.execute(f"INSERT INTO bytes_of_one VALUES {every_byte}")
        yield cursor
        cursor.execute("DROP DATABASE charsets")


def test_every_character_set_of_the_server_is_known_with_its_width(server: Server) -> None:
    widths = dict(server.query("SELECT character_set_name, maxlen FROM information_schema.character_sets"))
    assert widths == {charset: MAX_BYTES[charset] for charset in widths}


def test_every_collation_of_the_server_is_known(server: Server) -> None:
    listed = dict(server.query(COLLATIONS_OF[server.family.name]))
    assert len(listed) > 200
    assert listed == {collation: charset_of(collation) for collation in listed}


@pytest.mark.slow
def test_bytes_decode_as_the_server_converts_them(cursor: Any) -> None:
    wrong = {charset: reading_differences(cursor, CODECS[charset]) for charset in text_charsets(cursor)}
    assert wrong == {charset: [] for charset in wrong}


@pytest.mark.slow
def test_characters_encode_as_the_server_converts_them(cursor: Any) -> None:
    wrong = {charset: writing_differences(cursor, CODECS[charset]) for charset in text_charsets(cursor)}
    assert wrong == {charset: [] for charset in wrong}


def test_text_round_trips_through_a_column_of_every_character_set(cursor: Any) -> None:
    texts = {charset: sample_text(CODECS[charset]) for charset in text_charsets(cursor)}
    columns = ", ".join(f"{charset}_text TEXT CHARACTER SET {charset}" for charset in texts)
    cursor.execute(f"CREATE TABLE texts ({columns})")
    cursor.execute(f"INSERT INTO texts VALUES ({', '.join(['%s'] * len(texts))})", list(texts.values()))
    assert select_row(cursor, "CONVERT({charset}_text USING utf8mb4)", texts) == list(texts.values())
    stored = select_row(cursor, "CAST({charset}_text AS BINARY)", texts)
    collations = column_collations(cursor)
    assert [decode_text(raw, collations[charset]) for charset, raw in zip(texts, stored, strict=True)] == list(
        texts.values()
    )
    assert [encode_text(text, collations[charset]) for charset, text in texts.items()] == stored


def text_charsets(cursor: Any) -> list[str]:
    """List the server's character sets, without binary."""
    cursor.execute(
        "SELECT character_set_name FROM information_schema.character_sets WHERE character_set_name <> 'binary'"
    )
    return [charset for (charset,) in cursor.fetchall()]


def reading_differences(cursor: Any, codec: Codec) -> list[tuple[bytes, str | None, str | None]]:
    """Ask what each sequence of bytes means, and list where we say otherwise (a few of them)."""
    found = []
    for beginning in BEGINNINGS.get(codec.charset, ("",)):
        for raw, answer in server_readings(cursor, codec, beginning):
            theirs, ours = server_text(codec, raw, answer), own_text(codec, raw)
            found += [(raw, theirs, ours)] if theirs != ours else []
    return found[:5]


def server_readings(cursor: Any, codec: Codec, beginning: str) -> list[tuple[bytes, bytes | None]]:
    """Let the server convert a beginning with every byte (every pair, where a character can be longer) to UTF-32."""
    tables, pair = (
        ("bytes_of_one", "one.b") if codec.max_bytes == 1 else ("bytes_of_one two, bytes_of_one", "two.b, one.b")
    )
    raw = f"CONCAT(x'{beginning}', {pair}, x'{LETTER.get(codec.charset, b'A').hex()}')"
    text = f"CAST(CONVERT(CONVERT({raw} USING {codec.charset}) USING utf32) AS BINARY)"
    cursor.execute(f"SELECT {raw}, {text} FROM {tables} one")
    return list(cursor.fetchall())


def server_text(codec: Codec, raw: bytes, answer: bytes | None) -> str | None:
    """What the server takes the bytes for; None where it says so with NULL, a question mark or U+FFFD.

    Its surrogates (MariaDB passes them on) are no text either.
    """
    text = (answer or SURROGATE).decode("utf-32-be", "surrogatepass")
    sent = own_text(codec, raw) or "" if codec.layout is Layout.FIXED else raw.decode("latin1")
    refused = text.count("?") > sent.count("?")
    refused |= not SURROGATES.isdisjoint(text)
    refused |= "\ufffd" in text and codec.charset in ("big5", "tis620")
    return None if refused else text


def own_text(codec: Codec, raw: bytes) -> str | None:
    try:
        return codec.decode(raw)
    except UnicodeDecodeError:
        return None


def writing_differences(cursor: Any, codec: Codec) -> list[tuple[str, bytes | None, bytes | None]]:
    """Ask how each character of the first 65,536 is written, and list where we say otherwise (a few of them).

    Single-byte sets have none between U+3000 and U+EFFF, so those are not sent. A character that the server turns
    into another one is a character that the set does not have; so is U+FFFD, which the server keeps in some cases.
    """
    wide = "CONVERT(CONCAT(x'0000', two.b, one.b) USING utf32)"
    written = f"CONVERT({wide} USING {codec.charset})"
    cursor.execute(
        f"SELECT CAST({wide} AS BINARY), CAST({written} AS BINARY), "
        f"CAST(CONVERT({written} USING utf32) AS BINARY) = CAST({wide} AS BINARY) "
        "FROM bytes_of_one two, bytes_of_one one "
        "WHERE two.b NOT BETWEEN x'D8' AND x'DF' AND CONCAT(two.b, one.b) <> x'FFFD' "
        f"AND ({codec.max_bytes} > 1 OR two.b NOT BETWEEN x'30' AND x'EF')"
    )
    found = []
    for character, raw, returns in cursor.fetchall():
        text, theirs = character.decode("utf-32-be"), raw if returns else None
        found += [(text, theirs, own_bytes(codec, text))] if theirs != own_bytes(codec, text) else []
    return found[:5]


def own_bytes(codec: Codec, text: str) -> bytes | None:
    try:
        return codec.encode(text)
    except UnicodeEncodeError:
        return None


def sample_text(codec: Codec) -> str:
    """Take characters that the set has, from everywhere in it."""
    points = (*range(0xD800), *range(0xE000, 0x10000), *range(0x1F600, 0x1F640))
    characters = [chr(point) for point in points if own_bytes(codec, chr(point)) is not None]
    step = max(1, len(characters) // SAMPLE_CHARACTERS)
    return "".join(characters[::step]) + "Ende"


def select_row(cursor: Any, expression: str, charsets: dict[str, str]) -> list[Any]:
    """Select the one row of `texts`, with an expression for each column."""
    cursor.execute(f"SELECT {', '.join(expression.format(charset=charset) for charset in charsets)} FROM texts")
    (row,) = cursor.fetchall()
    return list(row)


def column_collations(cursor: Any) -> dict[str, int]:
    """Ask for the collation id of each column of `texts`, by its character set."""
    cursor.execute(
        "SELECT character_set_name, id FROM information_schema.columns JOIN information_schema.collations "
        "USING (collation_name, character_set_name) WHERE table_schema = 'charsets' AND table_name = 'texts'"
    )
    return dict(cursor.fetchall())
