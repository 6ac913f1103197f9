"""The names of MariaDB's collations, by their numbers, and of their character sets."""

from __future__ import annotations

from functools import cache

_FIRST = """
big5_chinese_ci latin2_czech_cs dec8_swedish_ci cp850_general_ci latin1_german1_ci hp8_english_ci
koi8r_general_ci latin1_swedish_ci latin2_general_ci swe7_swedish_ci ascii_general_ci ujis_japanese_ci
sjis_japanese_ci cp1251_bulgarian_ci latin1_danish_ci hebrew_general_ci - tis620_thai_ci euckr_korean_ci
latin7_estonian_cs latin2_hungarian_ci koi8u_general_ci cp1251_ukrainian_ci gb2312_chinese_ci greek_general_ci
cp1250_general_ci latin2_croatian_ci gbk_chinese_ci cp1257_lithuanian_ci latin5_turkish_ci latin1_german2_ci
armscii8_general_ci utf8mb3_general_ci cp1250_czech_cs ucs2_general_ci cp866_general_ci keybcs2_general_ci
macce_general_ci macroman_general_ci cp852_general_ci latin7_general_ci latin7_general_cs macce_bin
cp1250_croatian_ci utf8mb4_general_ci utf8mb4_bin latin1_bin latin1_general_ci latin1_general_cs cp1251_bin
cp1251_general_ci cp1251_general_cs macroman_bin utf16_general_ci utf16_bin utf16le_general_ci cp1256_general_ci
cp1257_bin cp1257_general_ci utf32_general_ci utf32_bin utf16le_bin binary armscii8_bin ascii_bin cp1250_bin
cp1256_bin cp866_bin dec8_bin greek_bin hebrew_bin hp8_bin keybcs2_bin koi8r_bin koi8u_bin - latin2_bin
latin5_bin latin7_bin cp850_bin cp852_bin swe7_bin utf8mb3_bin big5_bin euckr_bin gb2312_bin gbk_bin sjis_bin
tis620_bin ucs2_bin ujis_bin geostd8_general_ci geostd8_bin latin1_spanish_ci cp932_japanese_ci cp932_bin
eucjpms_japanese_ci eucjpms_bin cp1250_polish_ci
""".split()
"""The collations from number 1 on; `-` where there is none."""

_TAILORED = """
unicode_ci icelandic_ci latvian_ci romanian_ci slovenian_ci polish_ci estonian_ci spanish_ci swedish_ci
turkish_ci czech_ci danish_ci lithuanian_ci slovak_ci spanish2_ci roman_ci persian_ci esperanto_ci hungarian_ci
sinhala_ci german2_ci croatian_mysql561_ci unicode_520_ci vietnamese_ci
""".split()
"""The collations that each Unicode character set has, in blocks of numbers."""

_BLOCKS = {"utf16": 101, "ucs2": 128, "utf32": 160, "utf8mb3": 192, "utf8mb4": 224}
_OLD_GENERAL = {159: "ucs2_general_mysql500_ci", 223: "utf8mb3_general_mysql500_ci"}
_MARIADB_BLOCKS = {"utf8mb3": 576, "utf8mb4": 608, "ucs2": 640, "utf16": 672, "utf32": 736}
_OF_MARIADB = ("croatian_ci", "myanmar_ci", "thai_520_w2")
_NO_PADDING = 1024
_UCA1400, _UCA1400_BLOCK = 2048, 256
_UCA1400_CHARSETS = ("utf8mb3", "utf8mb4", "ucs2", "utf16", "utf32")
_UCA1400_LANGUAGES = """
- icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian slovak
spanish2 roman persian esperanto hungarian sinhala german2 - - vietnamese croatian
""".split()
_SENSITIVITIES = ("ai_ci", "ai_cs", "as_ci", "as_cs")
_WIDTHS = {
    "big5": 2, "ujis": 3, "sjis": 2, "euckr": 2, "gb2312": 2, "gbk": 2, "utf8mb3": 3, "ucs2": 2, "utf8mb4": 4,
    "utf16": 4, "utf16le": 4, "utf32": 4, "cp932": 2, "eucjpms": 3,
}  # fmt: skip


@cache
def collation_name(number: int) -> str | None:
    """Return the name of a collation, None if MariaDB has none of this number."""
    if number >= _UCA1400:
        return _uca1400_name(number - _UCA1400)
    if number > _NO_PADDING:
        padded = _names().get(number - _NO_PADDING)
        return None if padded is None else "_nopad_".join(padded.rsplit("_", 1))
    return _names().get(number)


@cache
def charset_name(number: int) -> str | None:
    """Return the name of the character set of a collation, None if MariaDB has no collation of this number."""
    name = collation_name(number)
    return None if name is None else name.partition("_")[0]


def character_width(charset: str) -> int:
    """Return how many bytes a character of a character set takes at most."""
    return _WIDTHS.get(charset, 1)


def _uca1400_name(number: int) -> str | None:
    block, within = divmod(number, _UCA1400_BLOCK)
    language = within >> 3
    if block >= len(_UCA1400_CHARSETS) or language >= len(_UCA1400_LANGUAGES):
        return None
    if language and _UCA1400_LANGUAGES[language] == "-":
        return None
    parts = [_UCA1400_CHARSETS[block], "uca1400"]
    parts += [_UCA1400_LANGUAGES[language]] if language else []
    parts += ["nopad"] if within & 4 else []
    return "_".join([*parts, _SENSITIVITIES[within & 3]])


@cache
def _names() -> dict[int, str]:
    names = {number: name for number, name in enumerate(_FIRST, 1) if name != "-"}
    for blocks, endings in ((_BLOCKS, _TAILORED), (_MARIADB_BLOCKS, _OF_MARIADB)):
        for charset, first in blocks.items():
            names |= {first + index: f"{charset}_{ending}" for index, ending in enumerate(endings)}
    return names | _OLD_GENERAL
