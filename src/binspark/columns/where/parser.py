"""Text into a condition: the part of SQL's expressions that compares columns with values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from binspark.columns.where.condition import (
    And,
    ColumnName,
    Comparator,
    Comparison,
    Condition,
    Image,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
)
from binspark.columns.where.literals import MAX_EXPONENT
from binspark.options.values import InvalidValue

EXPECTED = "a condition such as \"id = 42 AND state IN ('new', 'paid')\""
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<hex>0[xX][0-9a-fA-F]*|[xX]'[0-9a-fA-F]*')
      | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w$]))
      | (?P<string>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
      | (?P<quoted>`(?:[^`]|``)+`)
      | (?P<word>[^\W\d][\w$]*|@\d+|\d+[^\W\d][\w$]*)
      | (?P<sign><=|>=|<>|!=|==|=|<|>|\(|\)|,|\.|-|\+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_COMPARATORS = {
    "=": Comparator.EQUAL,
    "==": Comparator.EQUAL,
    "!=": Comparator.NOT_EQUAL,
    "<>": Comparator.NOT_EQUAL,
    "<": Comparator.LESS,
    "<=": Comparator.AT_MOST,
    ">": Comparator.GREATER,
    ">=": Comparator.AT_LEAST,
}
_REVERSED = {
    Comparator.LESS: Comparator.GREATER,
    Comparator.AT_MOST: Comparator.AT_LEAST,
    Comparator.GREATER: Comparator.LESS,
    Comparator.AT_LEAST: Comparator.AT_MOST,
}
_KEYWORDS = frozenset(["AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN", "TRUE", "FALSE"])
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int

    def __str__(self) -> str:
        return self.text if self.kind == "end" else repr(self.text)


def parse_condition(text: str) -> Condition:
    """Parse a condition; raise `InvalidValue` where it is not one."""
    return _Parser(text).condition()


class _Parser:
    """Takes one token after the other. Each rule of the grammar is a method."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self._next = 0
        self._depth = 0

    def condition(self) -> Condition:
        found = self._any_of()
        if self._token.kind != "end":
            self._fail(f"expected AND, OR or the end, found {self._token}")
        return found

    def _split(self) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while self._text[at:].strip():
            match = _TOKEN.match(self._text, at)
            if match is None or match.lastgroup is None:
                rest = self._text[at:].lstrip()
                problem = "a string without its end" if rest[0] in "'\"`" else f"unexpected {rest[0]!r}"
                raise self._error(problem, len(self._text) - len(rest))
            kind, found = match.lastgroup, match[match.lastgroup]
            if kind == "word" and found.upper() in _KEYWORDS:
                kind, found = "keyword", found.upper()
            tokens.append(_Token(kind, found, match.start(match.lastgroup)))
            at = match.end()
        return [*tokens, _Token("end", "the end", len(self._text))]

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, *texts: str) -> str | None:
        """Take the next token if it is a keyword or a sign among these."""
        token = self._token
        if token.kind not in ("keyword", "sign") or token.text not in texts:
            return None
        self._next += 1
        return token.text

    def _expect(self, text: str) -> None:
        if self._take(text) is None:
            self._fail(f"expected {text}, found {self._token}")

    def _any_of(self) -> Condition:
        return self._joined(self._all_of, "OR", Or)

    def _all_of(self) -> Condition:
        return self._joined(self._negated, "AND", And)

    def _joined(self, part: Callable[[], Condition], word: str, kind: type[And] | type[Or]) -> Condition:
        parts = [part()]
        while self._take(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else kind(tuple(parts))

    def _negated(self) -> Condition:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._fail(f"more than {_MAX_DEPTH} parentheses or NOTs inside each other")
        found = Not(self._negated()) if self._take("NOT") else self._primary()
        self._depth -= 1
        return found

    def _primary(self) -> Condition:
        if self._take("("):
            found = self._any_of()
            self._expect(")")
            return found
        left = self._operand()
        if not isinstance(left, ColumnName):
            comparator = self._comparator()
            right = self._operand()
            if not isinstance(right, ColumnName):
                self._fail("a comparison needs a column")
            return Comparison(right, _REVERSED.get(comparator, comparator), left)
        if self._take("IS"):
            negated = self._take("NOT")
            self._expect("NULL")
            return Not(IsNull(left)) if negated else IsNull(left)
        if self._take("NOT"):
            return Not(self._predicate(left))
        if self._token.text in ("IN", "LIKE", "BETWEEN") and self._token.kind == "keyword":
            return self._predicate(left)
        return Comparison(left, self._comparator(), self._operand())

    def _predicate(self, column: ColumnName) -> Condition:
        if self._take("IN"):
            self._expect("(")
            values = [self._literal()]
            while self._take(","):
                values.append(self._literal())
            self._expect(")")
            return Or(tuple(Comparison(column, Comparator.EQUAL, value) for value in values))
        if self._take("LIKE"):
            pattern = self._literal()
            if not isinstance(pattern, str):
                self._fail("LIKE needs a pattern in quotes")
            return Like(column, pattern)
        if self._take("BETWEEN"):
            low = self._literal()
            self._expect("AND")
            high = self._literal()
            return And((Comparison(column, Comparator.AT_LEAST, low), Comparison(column, Comparator.AT_MOST, high)))
        return self._fail(f"expected IN, LIKE or BETWEEN, found {self._token}")

    def _comparator(self) -> Comparator:
        sign = self._take(*_COMPARATORS)
        if sign is None:
            self._fail(f"expected a comparison such as = or IS NULL, found {self._token}")
        return _COMPARATORS[sign]

    def _operand(self) -> Literal | ColumnName:
        token = self._token
        if token.kind not in ("word", "quoted"):
            return self._literal()
        first = self._name()
        if not self._take("."):
            return ColumnName(first)
        if first.lower() not in (Image.BEFORE, Image.AFTER):
            self._fail(f"only before and after may precede a column, found {first!r}; select tables with --tables")
        if self._token.kind not in ("word", "quoted"):
            self._fail(f"expected the name of a column, found {self._token}")
        return ColumnName(self._name(), Image(first.lower()))

    def _name(self) -> str:
        token = self._token
        self._next += 1
        return token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text

    def _literal(self) -> Literal:
        sign = -1 if self._take("-") else 1
        token = self._token
        if token.kind == "number":
            self._next += 1
            return sign * self._number(token.text)
        if sign < 0:
            self._fail(f"expected a number, found {token}")
        if token.kind in ("hex", "string"):
            self._next += 1
            return _bytes(token.text) if token.kind == "hex" else _string(token.text)
        if self._take("TRUE"):
            return Fraction(1)
        if self._take("FALSE"):
            return Fraction(0)
        if token.kind == "keyword" and token.text == "NULL":
            self._fail("nothing equals NULL; write IS NULL or IS NOT NULL")
        hint = "; text is written in quotes" if token.kind == "word" else ""
        return self._fail(f"expected a value, found {token}{hint}")

    def _number(self, text: str) -> Fraction:
        exponent = text.lower().partition("e")[2]
        if len(exponent) > len(str(MAX_EXPONENT)) + 1 or abs(int(exponent or 0)) > MAX_EXPONENT:
            self._fail(f"the number {text} is out of range")
        return Fraction(text)

    def _fail(self, problem: str) -> NoReturn:
        raise self._error(problem, self._token.start)

    def _error(self, problem: str, at: int) -> InvalidValue:
        return InvalidValue(EXPECTED, self._text, f"{problem}, at character {at + 1}")


def _bytes(text: str) -> bytes:
    digits = text[2:].rstrip("'")
    return bytes.fromhex(digits if len(digits) % 2 == 0 else f"0{digits}")


def _string(text: str) -> str:
    quote, inside = text[0], text[1:-1]
    return re.sub(rf"\\(.)|{quote}{quote}", lambda match: _unescaped(match, quote), inside, flags=re.DOTALL)


def _unescaped(match: re.Match[str], quote: str) -> str:
    character: Any = match[1]
    return quote if character is None else _ESCAPES.get(character, character)
