"""The statements that readers of a log send, and their answers. All others are refused: nothing is stored here.

They are what the receiver threads of MySQL's and MariaDB's replicas send, recorded between real servers, and what
clients in Python ask besides: which logs there are, where they end, their GTIDs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from binspark.serve.errors import read_only
from binspark.serve.protocol import Result, Value
from binspark.serve.source_info import SourceInfo

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\""
_PART = re.compile(rf"({_STRING}|\((?:[^()]|\([^()]*\))*\)|[^,'\"()]+)+")
_ASSIGNMENT = re.compile(r"\s*(.*?)\s*:?=\s*(.*?)\s*", re.DOTALL)
_VARIABLE = re.compile(r"@@(?:(global|session|local)\s*\.\s*)?`?(\w+)`?", re.IGNORECASE)
_USER_VARIABLE = re.compile(r"@`?([\w.$]+)`?")
_ALIAS = re.compile(r"(.*?)\s+as\s+(`[^`]+`|\w+)", re.IGNORECASE | re.DOTALL)
_GTID_POSITION = re.compile(rf"binlog_gtid_pos\s*\(\s*({_STRING})\s*,\s*(\d+)\s*\)", re.IGNORECASE)
_LISTED = re.compile(_STRING)
_SHOW_VARIABLES = re.compile(
    rf"show\s+(?:global\s+|session\s+)?variables(?:\s+like\s+(?P<like>{_STRING})"
    rf"|\s+where\s+`?variable_name`?\s*(?:=|in)\s*(?P<names>\(.*\)|{_STRING}))?",
    re.IGNORECASE | re.DOTALL,
)
_SHOW_EVENTS = re.compile(
    rf"show\s+binlog\s+events(?:\s+in\s+(?P<file>{_STRING}))?\s+limit\s+(?P<count>\d+)", re.IGNORECASE
)
_CATALOG = re.compile(r"(?P<columns>.*?)\s+from\s+`?information_schema`?\s*\.(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "Z": "\x1a"}
_ACCEPTED = re.compile(r"(use\s+\S+|begin|start\s+transaction|commit|rollback|do\s+1|kill\s+.*)", re.IGNORECASE)

Answer = Result | None
"""The rows that a statement returns; None for a statement without rows, which is OK."""


class Statements:
    """Answers the statements of one session, and keeps the variables that it sets."""

    def __init__(self, source: SourceInfo, user: str, host: str, connection_id: int) -> None:
        self.user_variables: dict[str, Value] = {}
        self._source = source
        self._functions: dict[str, Callable[[], Value]] = {
            "unix_timestamp()": lambda: int(time.time()),
            "unix_timestamp(now(6))": lambda: f"{time.time():.6f}",
            "version()": lambda: source.version,
            "connection_id()": lambda: connection_id,
            "current_user()": lambda: f"{user}@{host}",
            "current_user": lambda: f"{user}@{host}",
            "user()": lambda: f"{user}@{host}",
            "database()": lambda: None,
            "now()": lambda: time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()),
        }
        self._fixed: dict[str, Callable[[], Result]] = {
            "show master status": self._log_status,
            "show binary log status": self._log_status,
            "show binary logs": self._logs,
            "show master logs": self._logs,
            "show warnings": lambda: Result(("Level", "Code", "Message")),
            "show replicas": self._replicas,
            "show slave hosts": self._replicas,
        }

    def answer(self, statement: str) -> Answer:
        """Answer a statement; a `ClientError` for one that is refused."""
        text = _COMMENT.sub(" ", statement).strip().rstrip(";").strip()
        first, _, rest = text.partition(" ")
        match first.lower():
            case "select":
                return self._select(rest)
            case "set":
                self._set(rest, statement)
                return None
            case "show":
                return self._show(text, statement)
        if _ACCEPTED.fullmatch(text):
            return None
        raise read_only(statement)

    # --- SELECT -------------------------------------------------------------------------------------------------------

    def _select(self, text: str) -> Result:
        if catalog := _CATALOG.fullmatch(text):
            return Result(tuple(map(_column_name, _parts(catalog["columns"]))))  # there are no tables here
        text = re.sub(r"\s+limit\s+\d+$", "", text, flags=re.IGNORECASE)
        columns, row = [], []
        for part in _parts(text):
            alias = _ALIAS.fullmatch(part)
            expression = alias[1] if alias else part
            columns.append(_column_name(part) if alias else part)
            row.append(self._value(expression, f"SELECT {text}"))
        return Result(tuple(columns), (tuple(row),))

    def _value(self, expression: str, statement: str) -> Value:
        """Return the value of an expression: a constant, a variable, or one of a few functions."""
        function = self._functions.get(re.sub(r"\s", "", expression).lower())
        if function is not None:
            return function()
        if found := _VARIABLE.fullmatch(expression):
            return self._source.variable(found[2])
        if found := _USER_VARIABLE.fullmatch(expression):
            return self.user_variables.get(found[1].lower())
        if found := _GTID_POSITION.fullmatch(expression):
            return self._source.gtid_position(_unquoted(found[1]), int(found[2]))
        return _constant(expression, statement)

    # --- SET ----------------------------------------------------------------------------------------------------------

    def _set(self, text: str, statement: str) -> None:
        """Set variables. Those of the user are kept; those of a session have no effect; global ones are refused."""
        if re.match(r"(names|character\s+set|charset)\s", text, re.IGNORECASE):
            return
        for part in _parts(text):
            assignment = _ASSIGNMENT.fullmatch(part)
            if assignment is None:
                if re.match(r"(session\s+)?transaction\s", part, re.IGNORECASE):
                    continue
                raise read_only(statement)
            name, value = assignment.groups()
            if found := _USER_VARIABLE.fullmatch(name):
                self.user_variables[found[1].lower()] = self._value(value, statement)
            elif re.match(r"(@@)?(global|persist|persist_only)\b", name, re.IGNORECASE):
                raise read_only(statement)

    # --- SHOW ---------------------------------------------------------------------------------------------------------

    def _show(self, text: str, statement: str) -> Result:
        fixed = self._fixed.get(re.sub(r"\s+", " ", text.lower()))
        if fixed is not None:
            return fixed()
        if found := _SHOW_VARIABLES.fullmatch(text):
            return Result(("Variable_name", "Value"), tuple(self._variables(found["like"], found["names"])))
        if found := _SHOW_EVENTS.fullmatch(text):
            return self._events(_unquoted(found["file"]) if found["file"] else "", int(found["count"]))
        raise read_only(statement)

    def _variables(self, like: str | None, names: str | None) -> Iterator[tuple[Value, ...]]:
        wanted = None if names is None else {_unquoted(name).lower() for name in _LISTED.findall(names)}
        pattern = None if like is None else _unquoted(like).lower().replace("\\_", "_").replace("%", "*")
        for name in self._source.variable_names():
            if wanted is not None and name not in wanted:
                continue
            if pattern is not None and not fnmatchcase(name, pattern):
                continue
            yield name, self._source.variable_text(name)

    def _log_status(self) -> Result:
        columns = ("File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB")
        file, offset, gtids = self._source.status()
        if self._source.is_mariadb:
            return Result(columns, ((file, offset, "", ""),))
        return Result((*columns, "Executed_Gtid_Set"), ((file, offset, "", "", gtids),))

    def _logs(self) -> Result:
        logs = self._source.log_sizes()
        if self._source.is_mariadb:
            return Result(("Log_name", "File_size"), tuple(logs))
        return Result(("Log_name", "File_size", "Encrypted"), tuple((*log, "No") for log in logs))

    def _events(self, file: str, count: int) -> Result:
        columns = ("Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info")
        return Result(columns, tuple(self._source.first_events(file, count)))

    def _replicas(self) -> Result:
        return Result(("Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"), tuple(self._source.replicas()))


def _column_name(expression: str) -> str:
    """Return the name of a column of a result: an alias, or the expression without the table."""
    alias = _ALIAS.fullmatch(expression)
    return (alias[2] if alias else expression.rpartition(".")[2]).strip("`")


def _parts(text: str) -> Iterator[str]:
    """Yield what is between the commas of a list."""
    for match in _PART.finditer(text):
        yield match[0].strip()


def _constant(text: str, statement: str) -> Value:
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(_STRING, text):
        return _unquoted(text)
    if text.lower() == "null":
        return None
    if re.fullmatch(r"\w+", text):  # SET x = ON
        return text
    raise read_only(statement)


def _unquoted(text: str) -> str:
    quote, inner = text[0], text[1:-1]
    inner = inner.replace(quote * 2, quote)
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), inner, flags=re.DOTALL)
