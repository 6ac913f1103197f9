"""Write the logs of examples/bytes, and the page that explains them byte by byte: `python examples/worked_bytes.py`.

The logs are small, written by `BinlogBuilder`, and the same each time. Each example is an event and a field of it; its
address opens both in `binspark explore examples/bytes`. With an argument, another folder is written.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import binspark
from binspark.frames.payload import PayloadCompression
from binspark.testing.builder import BinlogBuilder, delete, insert, integer, table, update, varchar

FOLDER = Path(__file__).parent / "bytes"
SOURCE = "5d2a4b1c-0e3f-4a6b-8c7d-9e0f1a2b3c4d"
BOOKS = table("library.books", integer("id"), varchar("title", 60), integer("copies"), key=("id",))

HEAD = """\
# Binary logs, byte by byte

Two logs of a small library, written by [worked_bytes.py](../worked_bytes.py), and what to look at in them. Open them:

    binspark explore examples/bytes

Append an address of the table to the one that is printed: it leads to the event, and lights the field.

| event | address | field | what it shows |
| --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Example:
    """An event to look at: the one with this number among those of its type, and a field of it."""

    type: str
    number: int
    field: str
    text: str


EXAMPLES = (
    Example(
        "FORMAT_DESCRIPTION",
        0,
        "server_version",
        "The first event of each log, after four bytes of magic. It names the version of the "
        "server, in 50 bytes, and describes all events after it.",
    ),
    Example(
        "FORMAT_DESCRIPTION",
        0,
        "checksum_alg",
        "1 is CRC32: each event, this one too, ends with four bytes of checksum.",
    ),
    Example(
        "PREVIOUS_GTIDS",
        0,
        "source_count",
        "The transactions before this log. There are none: eight bytes of zeros.",
    ),
    Example("GTID", 0, "sid", "A transaction begins. 16 bytes are the UUID of the server that committed it first."),
    Example(
        "GTID",
        0,
        "gno",
        "Its number: together with the UUID, the identifier of the transaction on every server.",
    ),
    Example(
        "GTID",
        1,
        "last_committed",
        "The sequence number of the last transaction that must be committed before this one. A "
        "replica may apply it in parallel with those after that.",
    ),
    Example("QUERY", 0, "query", "A statement. DDL is logged as text; its default schema comes before it."),
    Example("ROWS_QUERY", 0, "query", "The statement that changed the rows that follow, as the client sent it."),
    Example("TABLE_MAP", 0, "table_id", "The number that means the table in the rows events after it."),
    Example("TABLE_MAP", 0, "column_types", "One byte for the type of each column: 3 is a LONG, 15 a VARCHAR."),
    Example(
        "WRITE_ROWS",
        0,
        "row[0].after.id",
        "The first value of an inserted row: an INT, four bytes, the least first.",
    ),
    Example("WRITE_ROWS", 0, "row[0].after.title.length", "A VARCHAR of up to 255 bytes has its length in one byte."),
    Example(
        "WRITE_ROWS",
        0,
        "row[1].after.null_bits",
        "One bit for each column: that of `copies` is set, so it is NULL and has no bytes.",
    ),
    Example("UPDATE_ROWS", 0, "row[0].before.copies", "An update has the row before the change,"),
    Example("UPDATE_ROWS", 0, "row[0].after.copies", "and the row after it."),
    Example("DELETE_ROWS", 0, "row[0].before.id", "A delete has only the row before."),
    Example("XID", 0, "xid", "The commit. Without it, the transaction does not count."),
    Example(
        "TRANSACTION_PAYLOAD",
        0,
        "payload",
        "A transaction inside one event, usually compressed with zstd. The events inside it are listed after it.",
    ),
    Example("ROTATE", 0, "next_file", "The last event: the name of the next log, and the position to begin at, 4."),
    Example(
        "PREVIOUS_GTIDS",
        1,
        "source[0].interval[0].end",
        "The next log begins with all GTIDs of the one before, as intervals. Their end is exclusive.",
    ),
    Example("GTID_TAGGED", 0, "tag", "A GTID with a tag, which gives a group of transactions numbers of its own."),
    Example("STOP", 0, "checksum", "The server was shut down: an event with only a header and its checksum."),
)


def build() -> BinlogBuilder:
    """Return the two logs."""
    log = BinlogBuilder()
    log.timestamp = 1_750_000_000
    log.files.clear()
    log.start_file()
    log.ddl("CREATE TABLE books (id INT PRIMARY KEY, title VARCHAR(60), copies INT)", "library", gtid=f"{SOURCE}:1")
    log.timestamp += 60
    text = "INSERT INTO books VALUES (1, 'Dune', 3), (2, 'Emma', NULL)"
    log.transaction(insert(BOOKS, (1, "Dune", 3), (2, "Emma", None)), gtid=f"{SOURCE}:2", text=text)
    log.timestamp += 5
    log.transaction(update(BOOKS, ((1, "Dune", 3), (1, "Dune", 2))), gtid=f"{SOURCE}:3")
    log.transaction(delete(BOOKS, (2, "Emma", None)), gtid=f"{SOURCE}:4")
    log.timestamp += 1
    log.transaction(insert(BOOKS, (3, "Ulysses", 1)), gtid=f"{SOURCE}:5", compress=PayloadCompression.NONE)
    log.rotate()
    log.transaction(insert(BOOKS, (4, "Walden", 5)), gtid=f"{SOURCE}:branch:1")
    log.stop()
    return log


def write(folder: Path) -> None:
    """Write the logs and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    build().save(folder)
    events = [event for event in binspark.explain(folder) if event.inner is None]
    lines = []
    for example in EXAMPLES:
        event = [each for each in events if each.type == example.type][example.number]
        names = [field.name for field in event.fields]
        address = f"`#log={Path(event.file).name}&pos={event.pos}&field={names.index(example.field)}`"
        lines.append(f"| {example.type} | {address} | `{example.field}` | {example.text} |\n")
    (folder / "README.md").write_text(HEAD + "".join(lines))


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
