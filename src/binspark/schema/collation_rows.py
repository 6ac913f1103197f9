"""The numbers of collations, as MySQL 9.7 and MariaDB 10.11 list them in information_schema.

A test compares them with both servers. The numbers of MariaDB's UCA 14.0.0 collations follow a rule: see
`binspark.schema.collations`.
"""

from __future__ import annotations

from typing import NamedTuple


class CharsetRow(NamedTuple):
    """A character set: maximum bytes of a character, and `suffix:number` of its collations, the default first."""

    max_bytes: int
    collations: str


CHARSET_ROWS: dict[str, CharsetRow] = {
    "armscii8": CharsetRow(1, "general_ci:32 bin:64 general_nopad_ci:1056 nopad_bin:1088"),
    "ascii": CharsetRow(1, "general_ci:11 bin:65 general_nopad_ci:1035 nopad_bin:1089"),
    "big5": CharsetRow(2, "chinese_ci:1 bin:84 chinese_nopad_ci:1025 nopad_bin:1108"),
    "binary": CharsetRow(1, "=:63"),
    "cp1250": CharsetRow(
        1,
        "general_ci:26 czech_cs:34 croatian_ci:44 bin:66 polish_ci:99 general_nopad_ci:1050 nopad_bin:1090",
    ),
    "cp1251": CharsetRow(
        1,
        "general_ci:51 bulgarian_ci:14 ukrainian_ci:23 bin:50 general_cs:52 nopad_bin:1074 general_nopad_ci:1075",
    ),
    "cp1256": CharsetRow(1, "general_ci:57 bin:67 general_nopad_ci:1081 nopad_bin:1091"),
    "cp1257": CharsetRow(1, "general_ci:59 lithuanian_ci:29 bin:58 nopad_bin:1082 general_nopad_ci:1083"),
    "cp850": CharsetRow(1, "general_ci:4 bin:80 general_nopad_ci:1028 nopad_bin:1104"),
    "cp852": CharsetRow(1, "general_ci:40 bin:81 general_nopad_ci:1064 nopad_bin:1105"),
    "cp866": CharsetRow(1, "general_ci:36 bin:68 general_nopad_ci:1060 nopad_bin:1092"),
    "cp932": CharsetRow(2, "japanese_ci:95 bin:96 japanese_nopad_ci:1119 nopad_bin:1120"),
    "dec8": CharsetRow(1, "swedish_ci:3 bin:69 swedish_nopad_ci:1027 nopad_bin:1093"),
    "eucjpms": CharsetRow(3, "japanese_ci:97 bin:98 japanese_nopad_ci:1121 nopad_bin:1122"),
    "euckr": CharsetRow(2, "korean_ci:19 bin:85 korean_nopad_ci:1043 nopad_bin:1109"),
    "gb18030": CharsetRow(4, "chinese_ci:248 bin:249 unicode_520_ci:250"),
    "gb2312": CharsetRow(2, "chinese_ci:24 bin:86 chinese_nopad_ci:1048 nopad_bin:1110"),
    "gbk": CharsetRow(2, "chinese_ci:28 bin:87 chinese_nopad_ci:1052 nopad_bin:1111"),
    "geostd8": CharsetRow(1, "general_ci:92 bin:93 general_nopad_ci:1116 nopad_bin:1117"),
    "greek": CharsetRow(1, "general_ci:25 bin:70 general_nopad_ci:1049 nopad_bin:1094"),
    "hebrew": CharsetRow(1, "general_ci:16 bin:71 general_nopad_ci:1040 nopad_bin:1095"),
    "hp8": CharsetRow(1, "english_ci:6 bin:72 english_nopad_ci:1030 nopad_bin:1096"),
    "keybcs2": CharsetRow(1, "general_ci:37 bin:73 general_nopad_ci:1061 nopad_bin:1097"),
    "koi8r": CharsetRow(1, "general_ci:7 bin:74 general_nopad_ci:1031 nopad_bin:1098"),
    "koi8u": CharsetRow(1, "general_ci:22 bin:75 general_nopad_ci:1046 nopad_bin:1099"),
    "latin1": CharsetRow(
        1,
        "swedish_ci:8 german1_ci:5 danish_ci:15 german2_ci:31 bin:47 general_ci:48 general_cs:49 spanish_ci:94 "
        "swedish_nopad_ci:1032 nopad_bin:1071",
    ),
    "latin2": CharsetRow(
        1,
        "general_ci:9 czech_cs:2 hungarian_ci:21 croatian_ci:27 bin:77 general_nopad_ci:1033 nopad_bin:1101",
    ),
    "latin5": CharsetRow(1, "turkish_ci:30 bin:78 turkish_nopad_ci:1054 nopad_bin:1102"),
    "latin7": CharsetRow(1, "general_ci:41 estonian_cs:20 general_cs:42 bin:79 general_nopad_ci:1065 nopad_bin:1103"),
    "macce": CharsetRow(1, "general_ci:38 bin:43 general_nopad_ci:1062 nopad_bin:1067"),
    "macroman": CharsetRow(1, "general_ci:39 bin:53 general_nopad_ci:1063 nopad_bin:1077"),
    "sjis": CharsetRow(2, "japanese_ci:13 bin:88 japanese_nopad_ci:1037 nopad_bin:1112"),
    "swe7": CharsetRow(1, "swedish_ci:10 bin:82 swedish_nopad_ci:1034 nopad_bin:1106"),
    "tis620": CharsetRow(1, "thai_ci:18 bin:89 thai_nopad_ci:1042 nopad_bin:1113"),
    "ucs2": CharsetRow(
        2,
        "general_ci:35 bin:90 unicode_ci:128 icelandic_ci:129 latvian_ci:130 romanian_ci:131 slovenian_ci:132 "
        "polish_ci:133 estonian_ci:134 spanish_ci:135 swedish_ci:136 turkish_ci:137 czech_ci:138 danish_ci:139 "
        "lithuanian_ci:140 slovak_ci:141 spanish2_ci:142 roman_ci:143 persian_ci:144 esperanto_ci:145 "
        "hungarian_ci:146 sinhala_ci:147 german2_ci:148 croatian_ci:149 croatian_mysql561_ci:149 "
        "unicode_520_ci:150 vietnamese_ci:151 general_mysql500_ci:159 myanmar_ci:641 thai_520_w2:642 "
        "general_nopad_ci:1059 nopad_bin:1114 unicode_nopad_ci:1152 unicode_520_nopad_ci:1174",
    ),
    "ujis": CharsetRow(3, "japanese_ci:12 bin:91 japanese_nopad_ci:1036 nopad_bin:1115"),
    "utf16": CharsetRow(
        4,
        "general_ci:54 bin:55 unicode_ci:101 icelandic_ci:102 latvian_ci:103 romanian_ci:104 slovenian_ci:105 "
        "polish_ci:106 estonian_ci:107 spanish_ci:108 swedish_ci:109 turkish_ci:110 czech_ci:111 danish_ci:112 "
        "lithuanian_ci:113 slovak_ci:114 spanish2_ci:115 roman_ci:116 persian_ci:117 esperanto_ci:118 "
        "hungarian_ci:119 sinhala_ci:120 german2_ci:121 croatian_ci:122 croatian_mysql561_ci:122 "
        "unicode_520_ci:123 vietnamese_ci:124 myanmar_ci:673 thai_520_w2:674 general_nopad_ci:1078 nopad_bin:1079 "
        "unicode_nopad_ci:1125 unicode_520_nopad_ci:1147",
    ),
    "utf16le": CharsetRow(4, "general_ci:56 bin:62 general_nopad_ci:1080 nopad_bin:1086"),
    "utf32": CharsetRow(
        4,
        "general_ci:60 bin:61 unicode_ci:160 icelandic_ci:161 latvian_ci:162 romanian_ci:163 slovenian_ci:164 "
        "polish_ci:165 estonian_ci:166 spanish_ci:167 swedish_ci:168 turkish_ci:169 czech_ci:170 danish_ci:171 "
        "lithuanian_ci:172 slovak_ci:173 spanish2_ci:174 roman_ci:175 persian_ci:176 esperanto_ci:177 "
        "hungarian_ci:178 sinhala_ci:179 german2_ci:180 croatian_ci:181 croatian_mysql561_ci:181 "
        "unicode_520_ci:182 vietnamese_ci:183 myanmar_ci:737 thai_520_w2:738 general_nopad_ci:1084 nopad_bin:1085 "
        "unicode_nopad_ci:1184 unicode_520_nopad_ci:1206",
    ),
    "utf8mb3": CharsetRow(
        3,
        "general_ci:33 tolower_ci:76 bin:83 unicode_ci:192 icelandic_ci:193 latvian_ci:194 romanian_ci:195 "
        "slovenian_ci:196 polish_ci:197 estonian_ci:198 spanish_ci:199 swedish_ci:200 turkish_ci:201 czech_ci:202 "
        "danish_ci:203 lithuanian_ci:204 slovak_ci:205 spanish2_ci:206 roman_ci:207 persian_ci:208 "
        "esperanto_ci:209 hungarian_ci:210 sinhala_ci:211 german2_ci:212 croatian_ci:213 croatian_mysql561_ci:213 "
        "unicode_520_ci:214 vietnamese_ci:215 general_mysql500_ci:223 myanmar_ci:577 thai_520_w2:578 "
        "general1400_as_ci:579 general_nopad_ci:1057 nopad_bin:1107 unicode_nopad_ci:1216 unicode_520_nopad_ci:1238",
    ),
    "utf8mb4": CharsetRow(
        4,
        "general_ci:45 bin:46 unicode_ci:224 icelandic_ci:225 latvian_ci:226 romanian_ci:227 slovenian_ci:228 "
        "polish_ci:229 estonian_ci:230 spanish_ci:231 swedish_ci:232 turkish_ci:233 czech_ci:234 danish_ci:235 "
        "lithuanian_ci:236 slovak_ci:237 spanish2_ci:238 roman_ci:239 persian_ci:240 esperanto_ci:241 "
        "hungarian_ci:242 sinhala_ci:243 german2_ci:244 croatian_ci:245 croatian_mysql561_ci:245 "
        "unicode_520_ci:246 vietnamese_ci:247 0900_ai_ci:255 de_pb_0900_ai_ci:256 is_0900_ai_ci:257 "
        "lv_0900_ai_ci:258 ro_0900_ai_ci:259 sl_0900_ai_ci:260 pl_0900_ai_ci:261 et_0900_ai_ci:262 "
        "es_0900_ai_ci:263 sv_0900_ai_ci:264 tr_0900_ai_ci:265 cs_0900_ai_ci:266 da_0900_ai_ci:267 "
        "lt_0900_ai_ci:268 sk_0900_ai_ci:269 es_trad_0900_ai_ci:270 la_0900_ai_ci:271 eo_0900_ai_ci:273 "
        "hu_0900_ai_ci:274 hr_0900_ai_ci:275 vi_0900_ai_ci:277 0900_as_cs:278 de_pb_0900_as_cs:279 "
        "is_0900_as_cs:280 lv_0900_as_cs:281 ro_0900_as_cs:282 sl_0900_as_cs:283 pl_0900_as_cs:284 "
        "et_0900_as_cs:285 es_0900_as_cs:286 sv_0900_as_cs:287 tr_0900_as_cs:288 cs_0900_as_cs:289 "
        "da_0900_as_cs:290 lt_0900_as_cs:291 sk_0900_as_cs:292 es_trad_0900_as_cs:293 la_0900_as_cs:294 "
        "eo_0900_as_cs:296 hu_0900_as_cs:297 hr_0900_as_cs:298 vi_0900_as_cs:300 ja_0900_as_cs:303 "
        "ja_0900_as_cs_ks:304 0900_as_ci:305 ru_0900_ai_ci:306 ru_0900_as_cs:307 zh_0900_as_cs:308 0900_bin:309 "
        "nb_0900_ai_ci:310 nb_0900_as_cs:311 nn_0900_ai_ci:312 nn_0900_as_cs:313 sr_latn_0900_ai_ci:314 "
        "sr_latn_0900_as_cs:315 bs_0900_ai_ci:316 bs_0900_as_cs:317 bg_0900_ai_ci:318 bg_0900_as_cs:319 "
        "gl_0900_ai_ci:320 gl_0900_as_cs:321 mn_cyrl_0900_ai_ci:322 mn_cyrl_0900_as_cs:323 myanmar_ci:609 "
        "thai_520_w2:610 general1400_as_ci:611 general_nopad_ci:1069 nopad_bin:1070 unicode_nopad_ci:1248 "
        "unicode_520_nopad_ci:1270",
    ),
}
"""The suffix of a collation is what follows the name of its character set; `=` is the name of the set alone."""

MARIADB_OWN_NUMBERS: dict[str, int] = {
    "utf8mb3_croatian_ci": 576,
    "utf8mb4_croatian_ci": 608,
    "ucs2_croatian_ci": 640,
    "utf16_croatian_ci": 672,
    "utf32_croatian_ci": 736,
}
"""Names that both families use, but MariaDB for another collation than MySQL."""

UCA1400_TAILORINGS: tuple[str, ...] = (
    "",
    "icelandic",
    "latvian",
    "romanian",
    "slovenian",
    "polish",
    "estonian",
    "spanish",
    "swedish",
    "turkish",
    "czech",
    "danish",
    "lithuanian",
    "slovak",
    "spanish2",
    "roman",
    "persian",
    "esperanto",
    "hungarian",
    "sinhala",
    "german2",
    "",
    "",
    "vietnamese",
    "croatian",
)
"""The languages of MariaDB's UCA 14.0.0 collations, in the order of their numbers; the first has none."""
