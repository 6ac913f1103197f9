"""What fields are whose decoder has nothing to add to their value: one line for each name."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\[\d+\]")
_LENGTH = "_length"
_OF_ROW = "row"

_MEANINGS = {
    "binlog_version": "the version of the format; 4 since MySQL 5.0",
    "block": "bytes of the file that LOAD DATA reads",
    "bqual": "the branch of the XA transaction",
    "catalog": "the catalog, which is always std",
    "collation": "the number of a collation",
    "column": "the index of a column, counted from 0",
    "column_count": "how many columns the table has",
    "column_name": "the name of the next column",
    "commit_group_ticket": "the ticket of the group commit, by which Group Replication keeps the commit order",
    "count": "how many follow",
    "database": "a database that the statement uses",
    "domain_id": "the domain of the GTID",
    "extra_engines": "how many more engines take part in the transaction",
    "file_id": "the file of LOAD DATA that this belongs to",
    "first": "the first number of the interval",
    "flags": "flags",
    "format_again": "the format, repeated",
    "format_id": "the format of the XA transaction's identifier",
    "gtrid": "the global identifier of the XA transaction",
    "host": "the host of the client",
    "interval_count": "how many intervals of numbers this source has",
    "key_version": "the version of the key that encrypts the log",
    "length": "the bytes of what follows",
    "log_file": "the oldest log that is needed after a crash",
    "member": "a member of the ENUM or SET",
    "message": "what happened",
    "name": "the name of the variable",
    "nonce": "the random part of the initialization vector",
    "number": "a number for the next column that has one",
    "padding": "unused",
    "partition_id": "the partition that the rows are in",
    "query": "the statement",
    "schema": "the database",
    "scheme": "how the log is encrypted",
    "seed1": "the first seed of RAND()",
    "seed2": "the second seed of RAND()",
    "sequence_number": "the number of the transaction in its domain",
    "server_id": "the server that the transaction ran on first",
    "server_version": "the version of the server that wrote the log",
    "source_count": "how many sources of GTIDs follow",
    "start_alter_sequence": "the number of the transaction that began this ALTER TABLE",
    "table": "the name of the table",
    "tag": "the tag of the GTID",
    "time_zone": "the time zone of the session",
    "uncompressed_size": "the bytes after decompression",
    "user": "the user of the session",
    "uuid": "the server that the transactions ran on first",
    "value": "the value",
    "xid": "the number of the transaction in the engine",
}


def plain_meaning(name: str) -> str:
    """Return what a field is, by its name; empty for values of rows, which speak for themselves, and unknown names."""
    path = _NUMBER.sub("", name).split(".")
    last = path[-1]
    if path[0] == _OF_ROW:
        return _MEANINGS[last] if last == _LENGTH[1:] else ""
    if last in _MEANINGS:
        return _MEANINGS[last]
    return f"the bytes of {last.removesuffix(_LENGTH)}" if last.endswith(_LENGTH) else ""
