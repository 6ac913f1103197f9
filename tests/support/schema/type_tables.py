"""Tables that together have every type, attribute and kind of key."""

from __future__ import annotations

BOTH_FAMILIES = {
    "integers": """id INT PRIMARY KEY, t TINYINT, tu TINYINT UNSIGNED, s SMALLINT(3), su SMALLINT UNSIGNED ZEROFILL,
        m MEDIUMINT, mu MEDIUMINT UNSIGNED, i INTEGER, iu INT(5) UNSIGNED, b BIGINT, bu BIGINT ZEROFILL, y YEAR,
        y4 YEAR(4), flag BOOLEAN, bl BOOL, i1 INT1, i2 INT2, i3 INT3, i4 INT4, i8 INT8, mi MIDDLEINT SIGNED""",
    "serials": "id SERIAL, n INT",
    "decimals": """d DECIMAL, d1 DECIMAL(1), d52 DEC(5,2), n NUMERIC(20,10) UNSIGNED, x FIXED(65,30) NOT NULL,
        z DECIMAL(0), z2 DECIMAL(5,5) ZEROFILL""",
    "floats": """f FLOAT, f24 FLOAT(24), f25 FLOAT(25), f72 FLOAT(7,2) UNSIGNED, d DOUBLE, dp DOUBLE PRECISION,
        r REAL UNSIGNED, d105 DOUBLE(10,5), f4 FLOAT4, f8 FLOAT8""",
    "bits": "b BIT, b1 BIT(1), b7 BIT(7), b8 BIT(8), b9 BIT(9), b64 BIT(64)",
    "moments": """d DATE, t TIME, t3 TIME(3), dt DATETIME NOT NULL DEFAULT '2000-01-01 00:00:00', dt6 DATETIME(6),
        ts TIMESTAMP NULL, ts2 TIMESTAMP(2) NOT NULL DEFAULT CURRENT_TIMESTAMP(2) ON UPDATE CURRENT_TIMESTAMP(2)""",
    "strings": """c CHAR, c10 CHAR(10), cb CHAR(10) BINARY, u CHAR(255) CHARACTER SET utf8mb4,
        big CHAR(200) CHARSET utf8mb3, v VARCHAR(0), v20 VARCHAR(20) COLLATE latin1_bin,
        v300 VARCHAR(300) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci,
        n NCHAR(5), nn NATIONAL CHARACTER(5), nv NVARCHAR(6), nvv NATIONAL CHAR VARYING(7), cv CHARACTER VARYING(8),
        a CHAR(3) ASCII, un CHAR(3) UNICODE, by_ CHAR(3) BYTE, e CHAR(0), u32 CHAR(10) CHARACTER SET utf32,
        sj VARCHAR(20) CHARACTER SET sjis, bin VARCHAR(20) CHARACTER SET binary""",
    "texts": """tt TINYTEXT, t TEXT CHARACTER SET utf8mb4, mt MEDIUMTEXT COLLATE utf8mb3_bin, lt LONGTEXT BINARY,
        l LONG, lv LONG VARCHAR, t60 TEXT(60), t64 TEXT(64) CHARACTER SET utf8mb4, t300 TEXT(300), t9 TEXT(70000),
        bt TEXT CHARACTER SET binary""",
    "binaries": """b BINARY, b16 BINARY(16), vb VARBINARY(50), tb TINYBLOB, bb BLOB, b70 BLOB(70000), mb MEDIUMBLOB,
        lb LONGBLOB, lvb LONG VARBINARY""",
    "choices": """e ENUM('small','it''s','x,y','') CHARACTER SET latin1, e2 ENUM('ä','ö','€') CHARACTER SET utf8mb4,
        s SET('a','b','c','d','e','f','g','h','i'), s1 SET('only ') COLLATE utf8mb4_bin,
        bs ENUM('back\\\\slash','tab\\t'),
        eb ENUM('x') CHARACTER SET binary, j ENUM('日本') CHARACTER SET sjis, u16 SET('é','ß') CHARACTER SET utf16""",
    "mixed_charsets": """a VARCHAR(5), b VARCHAR(5), c VARCHAR(5), g POINT, d VARCHAR(5), e VARCHAR(5), f VARCHAR(5),
        u VARCHAR(5) CHARACTER SET utf8mb4, h GEOMETRY, w VARCHAR(5)""",
    "shapes": """g GEOMETRY, p POINT, l LINESTRING, y POLYGON, mp MULTIPOINT, ml MULTILINESTRING, my MULTIPOLYGON,
        gc GEOMETRYCOLLECTION""",
    "documents": "j JSON, k JSON NOT NULL DEFAULT (JSON_ARRAY())",
    "computed": """a INT, b INT GENERATED ALWAYS AS (a + 1) STORED, c INT AS (a * (2 + 1)) VIRTUAL,
        h INT INVISIBLE DEFAULT 5, z VARCHAR(10) AS (CONCAT(a, ',', ')')) VIRTUAL COMMENT 'it''s, (really)'""",
    "key_full": "a INT, b VARCHAR(20), c DATE, PRIMARY KEY (c, a)",
    "key_prefix": "a INT, b VARCHAR(20), c TEXT, d VARBINARY(9), PRIMARY KEY (c(5), b(20), a, d(3) DESC), KEY (b(3))",
    "key_unique": """n INT, u INT NOT NULL, p VARCHAR(30) NOT NULL, UNIQUE (n), UNIQUE (p(5)),
        UNIQUE KEY uu (u, p), KEY (u)""",
    "key_unique_null": "n INT UNIQUE, m INT NOT NULL",
    "key_inline": "a INT, b INT KEY, c INT UNIQUE KEY",
    "constrained": """a INT NOT NULL CHECK (a > -1),
        b INT REFERENCES integers (id) ON DELETE SET NULL ON UPDATE CASCADE, CONSTRAINT pk PRIMARY KEY USING BTREE (a),
        CONSTRAINT fk FOREIGN KEY (b) REFERENCES integers (id) ON DELETE CASCADE,
        CONSTRAINT positive CHECK (k > 0), k INT, FULLTEXT KEY ft (t), t TEXT, INDEX USING BTREE (b)""",
    "`odd ``name``, süß`": "`a``b` INT, `select` TEXT, `naïve, (x)` ENUM('y') COMMENT 'c', `KEY` INT",
}

MYSQL_ONLY = {
    "embeddings": "v VECTOR(3), t TEXT, w VECTOR",
    "places": """p POINT NOT NULL SRID 4326 DEFAULT (ST_GeomFromText('POINT(0 0)', 4326)), q POINT SRID 0,
        gc GEOMCOLLECTION""",
    "functional": """j JSON, i INT NOT NULL, INDEX mv ((CAST(j->'$.a' AS UNSIGNED ARRAY))), UNIQUE ((i + 1)),
        UNIQUE KEY plain (i)""",
    "hidden_text": "a VARCHAR(10) INVISIBLE, b TEXT /*!80023 INVISIBLE */, c INT /*!99999 NOT THERE */",
}

MARIADB_ONLY = {
    "addresses": "a4 INET4, a6 INET6, u UUID",
    "squeezed": """v VARCHAR(1000) COMPRESSED, vs VARCHAR(100) COMPRESSED=zlib CHARACTER SET utf8mb4, t TEXT COMPRESSED,
        vb VARBINARY(1000) COMPRESSED, b BLOB COMPRESSED, tt TINYTEXT COMPRESSED, lb LONGBLOB COMPRESSED""",
    "hashed": "a VARCHAR(4000), b TEXT, c TEXT, UNIQUE (a), UNIQUE (b), UNIQUE (c(10)), UNIQUE (c, b)",
    "periods": "id INT, a DATE DEFAULT '2000-01-01', e DATE DEFAULT '2001-01-01', PERIOD FOR valid (a, e)",
}

MARIADB_WHOLE = (
    "CREATE TABLE versions (a INT, b VARCHAR(5)) WITH SYSTEM VERSIONING",
    """CREATE TABLE own_versions (a INT, rs TIMESTAMP(6) GENERATED ALWAYS AS ROW START,
        re TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME(rs, re)) WITH SYSTEM VERSIONING""",
)


def create_statements(*, mariadb: bool) -> list[str]:
    """Return the statements that create the tables which a family can have."""
    tables = BOTH_FAMILIES | (MARIADB_ONLY if mariadb else MYSQL_ONLY)
    statements = [f"CREATE TABLE {name} ({columns})" for name, columns in tables.items()]
    return [*statements, *(MARIADB_WHOLE if mariadb else ())]
