"""Write `docs/types.md`: what column types become in Arrow and Spark, and the options that change it, out of the code.

    python -m tools.types_page > docs/types.md

A test compares the page with the code.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql.types import StructType

from binspark.columns.types import form_of
from binspark.schema.dump import from_dump
from binspark.schema.table import TableName, TableSchema
from binspark.spark.options import read_options
from binspark.spark.schemas import column_options, table_schema

INTRODUCTION = """\
# Types

What a column of a table becomes: in Arrow (`binspark.batches`, `export`) and in Spark (typed tables, in batch and in
streams). All columns are nullable. JSON lines and the view `changes` have representations of their own, see
[spark.md](spark.md).

This page is generated from the code: `python -m tools.types_page`.
"""

TYPES = (
    ("TINYINT", "BOOL is a TINYINT"),
    ("TINYINT UNSIGNED", ""),
    ("SMALLINT", ""),
    ("SMALLINT UNSIGNED", ""),
    ("MEDIUMINT", ""),
    ("MEDIUMINT UNSIGNED", ""),
    ("INT", ""),
    ("INT UNSIGNED", ""),
    ("BIGINT", ""),
    ("BIGINT UNSIGNED", ""),
    ("DECIMAL(38,10)", "up to 38 digits"),
    ("DECIMAL(65,30)", "more than 38 digits: the exact text"),
    ("FLOAT", ""),
    ("DOUBLE", ""),
    ("BIT(63)", "1 to 63 bits"),
    ("BIT(64)", ""),
    ("YEAR", "`0000` is 0"),
    ("DATE", "a zero date is NULL"),
    ("DATETIME(6)", "without a time zone; a zero date is NULL"),
    ("TIMESTAMP(6)", "in UTC; a zero date is NULL"),
    ("TIME(6)", "may be negative, up to 838 hours; Spark's own type `time` ends at 24 hours"),
    ("CHAR(10)", "decoded from the column's character set"),
    ("VARCHAR(200)", "likewise"),
    ("TEXT", "likewise; also TINYTEXT, MEDIUMTEXT, LONGTEXT"),
    ("BINARY(16)", "with its padding"),
    ("VARBINARY(200)", ""),
    ("BLOB", "also TINYBLOB, MEDIUMBLOB, LONGBLOB"),
    ("ENUM('a','b')", "the number, as an integer, where the log does not have the strings"),
    ("SET('a','b')", "the number, as a decimal, where the log does not have the strings"),
    ("JSON", "the text of the document"),
    ("GEOMETRY", "also POINT, LINESTRING, …; `wkb` is well-known binary"),
    ("VECTOR(3)", "MySQL"),
    ("INET4", "MariaDB; bytes where only the log is known, which has BINARY"),
    ("INET6", "likewise"),
    ("UUID", "likewise"),
)
"""Types as DDL writes them, and what is to be said about them."""

MARIADB_ONLY = ("INET4", "INET6", "UUID")
OPTIONS = (
    {"zeroDates": "string"},
    {"time": "string"},
    {"time": "microseconds"},
    {"undecodable": "binary"},
    {"json": "variant"},
    {"geometry": "4326"},
)
"""Options that change types, each on its own."""


def defined_table(definition: str) -> TableSchema:
    """Return a table with one column of a type."""
    mariadb = definition in MARIADB_ONLY
    sql = f"CREATE DATABASE d DEFAULT CHARSET utf8mb4; USE d; CREATE TABLE t (c {definition});"
    table = from_dump(sql, mariadb=mariadb).tables[TableName("d", "t")]
    assert table is not None
    return table.table_schema("d", "t")


def spark_type(table: TableSchema, **options: str) -> str:
    """Return the Spark type of the column."""
    schema: StructType = table_schema(table, read_options(options))
    return schema["c"].dataType.simpleString()


def arrow_type(table: TableSchema, **options: str) -> str:
    """Return the Arrow type of the column."""
    return str(form_of(table.columns[0], column_options(read_options(options))).type)


def page() -> str:
    """Return the page."""
    return "\n".join((INTRODUCTION, *_types(), *_options()))


def _types() -> Iterator[str]:
    yield "| MySQL, MariaDB | Arrow | Spark | |\n| --- | --- | --- | --- |"
    for definition, remark in TYPES:
        table = defined_table(definition)
        yield f"| {definition} | `{arrow_type(table)}` | `{spark_type(table)}` | {remark} |"
    yield ""


def _options() -> Iterator[str]:
    yield "## Options that change types\n"
    yield "| option | type | Arrow | Spark |\n| --- | --- | --- | --- |"
    for options in OPTIONS:
        ((name, value),) = options.items()
        for definition, _ in TYPES:
            table = defined_table(definition)
            before, after = spark_type(table), spark_type(table, **options)
            if before != after:
                yield f"| `{name}={value}` | {definition} | `{arrow_type(table, **options)}` | `{after}` |"
    yield ""
    yield "`json` and `geometry` are options of Spark alone; the Arrow types are those of `binspark.batches`."
    yield "Iceberg has no interval type: use `time=string` or `time=microseconds` for tables there."


if __name__ == "__main__":
    print(page())
