"""Options of tables and databases, of which only the character set is needed."""

from __future__ import annotations

from binspark.schema.session import CharsetRequest
from binspark.schema.sql.reader import SqlReader

NO_REQUEST = CharsetRequest()


def read_charset_option(sql: SqlReader, request: CharsetRequest) -> CharsetRequest | None:
    """Read `[DEFAULT] CHARACTER SET [=] x` or `[DEFAULT] COLLATE [=] x` if it comes next; else return None."""
    ahead = 1 if sql.at("DEFAULT") else 0
    words = sql.peek(ahead).word, sql.peek(ahead + 1).word
    is_charset = words[0] == "CHARSET" or words in (("CHARACTER", "SET"), ("CHAR", "SET"))
    if not (is_charset or words[0] == "COLLATE"):
        return None
    for _ in range(ahead + (2 if is_charset and words[0] != "CHARSET" else 1)):
        sql.next()
    sql.accept_sign("=")
    name = sql.word_or_text()
    if is_charset:
        return CharsetRequest(name, request.collate)
    return CharsetRequest(request.charset, name)


def read_database_options(sql: SqlReader) -> CharsetRequest:
    """Read the options of CREATE DATABASE and ALTER DATABASE."""
    request = NO_REQUEST
    while not sql.ended:
        changed = read_charset_option(sql, request)
        if changed is None:
            sql.skip_one()
        request = changed or request
    return request
