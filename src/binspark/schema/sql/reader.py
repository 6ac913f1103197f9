"""A reader of tokens with the operations of a recursive descent parser."""

from __future__ import annotations

from binspark.schema.changes import NotUnderstood
from binspark.schema.session import Session
from binspark.schema.sql.tokens import END, Kind, Token, tokens
from binspark.schema.table import TableName


class SqlReader:
    """Reads a statement from left to right. `tables` collects the tables that it affects."""

    def __init__(self, sql: str | list[Token], schema: str, session: Session) -> None:
        self._tokens = sql if isinstance(sql, list) else list(tokens(sql, session))
        self._at = 0
        self.schema = schema
        self.session = session
        self.tables: list[TableName] = []

    def peek(self, ahead: int = 0) -> Token:
        """Return the token that comes next, or one further ahead, without taking it."""
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else END

    @property
    def offset(self) -> int:
        """How many tokens were taken."""
        return self._at

    @property
    def word(self) -> str:
        """The keyword that comes next, empty for anything else."""
        return self.peek().word

    @property
    def ended(self) -> bool:
        """Whether the statement ends here."""
        token = self.peek()
        return token is END or self.is_sign(";")

    def next(self) -> Token:
        """Take the token that comes next; at the end it is END, again and again."""
        token = self.peek()
        if token is not END:
            self._at += 1
        return token

    def at(self, *words: str) -> bool:
        """Return whether these keywords come next."""
        return all(self.peek(ahead).word == word for ahead, word in enumerate(words))

    def at_any(self, *words: str) -> bool:
        """Return whether one of these keywords comes next."""
        return self.peek().word in words

    def accept(self, *words: str) -> bool:
        """Take these keywords if they come next."""
        if not self.at(*words):
            return False
        self._at += len(words)
        return True

    def accept_any(self, *words: str) -> str:
        """Take one of these keywords and return it; empty if none comes next."""
        return self.next().word if self.at_any(*words) else ""

    def expect(self, *words: str) -> None:
        """Take these keywords, which must come next."""
        if not self.accept(*words):
            raise self.refused(" ".join(words))

    def is_sign(self, sign: str, ahead: int = 0) -> bool:
        """Return whether this sign comes next, or `ahead` tokens later."""
        token = self.peek(ahead)
        return token.kind is Kind.SIGN and token.value == sign

    def accept_sign(self, sign: str) -> bool:
        """Take this sign if it comes next."""
        if not self.is_sign(sign):
            return False
        self._at += 1
        return True

    def expect_sign(self, sign: str) -> None:
        """Take this sign, which must come next."""
        if not self.accept_sign(sign):
            raise self.refused(f"`{sign}`")

    def refused(self, wanted: str) -> NotUnderstood:
        """Return the error that something else was expected here."""
        return NotUnderstood(f"expected {wanted}, found {self.peek().value!r}")

    def name(self) -> str:
        """Take an identifier."""
        if self.peek().kind not in (Kind.WORD, Kind.NAME):
            raise self.refused("a name")
        return self.next().value

    def word_or_text(self) -> str:
        """Take a name that may also be a string, such as that of a character set."""
        if self.peek().kind is Kind.END or self.peek().kind is Kind.SIGN:
            raise self.refused("a name")
        return self.next().value

    def literal(self) -> str | bytes:
        """Take a string; bytes if its meaning depends on the character set of the column."""
        token = self.peek()
        if token.kind is Kind.BYTES:
            return self.next().value.encode("latin-1")
        if token.kind is not Kind.TEXT:
            raise self.refused("a string")
        return self.session.stored_text(self.next().value)

    def number(self) -> int:
        """Take an unsigned integer. Servers ignore a fraction: `DECIMAL(19.5)` is `DECIMAL(19)`."""
        whole, _, fraction = self.peek().value.partition(".")
        if self.peek().kind is not Kind.NUMBER or not f"0{whole}{fraction}".isdecimal():
            raise self.refused("an unsigned integer")
        self.next()
        return int(whole or 0)

    def column_name(self) -> str:
        """Take the name of a column, with or without that of its table."""
        name = "" if self.is_sign(".") else self.name()
        while self.accept_sign("."):
            name = self.name()
        return name

    def table_name(self) -> TableName:
        """Take the name of a table that the statement affects."""
        name = self.other_table_name()
        self.tables.append(name)
        return name

    def other_table_name(self) -> TableName:
        """Take the name of a table, with or without its schema."""
        first = "" if self.is_sign(".") else self.stored_name()
        if not self.accept_sign("."):
            return TableName(self.schema, first)
        return TableName(first or self.schema, self.stored_name())

    def stored_name(self) -> str:
        """Take the name of a table or a database, in the case in which the server stores it."""
        name = self.name()
        return name.lower() if self.session.lower_case_names else name

    def skip_parentheses(self) -> None:
        """Skip everything up to the parenthesis that closes the one that comes next."""
        self.expect_sign("(")
        depth = 1
        while depth:
            if self.peek() is END:
                raise self.refused("`)`")
            depth += self.is_sign("(") - self.is_sign(")")
            self._at += 1

    def skip_one(self) -> None:
        """Skip one token, or parentheses with their content."""
        if self.is_sign("("):
            self.skip_parentheses()
        else:
            self._at += 1

    def skip_operand(self) -> None:
        """Skip a part of an expression that no operator of it divides.

        It is a literal, a call, a variable, a name, a CASE, or anything in parentheses or braces.
        """
        while self.peek().kind is Kind.SIGN and self.peek().value in "+-~!@":
            self.next()
        if self.at("CASE") or self.is_sign("{"):
            self._skip_nested(*(("{", "}") if self.is_sign("{") else ("CASE", "END")))
            return
        if self.accept("NEXT", "VALUE", "FOR") or self.accept("PREVIOUS", "VALUE", "FOR"):
            self.other_table_name()
            return
        is_prefix = self.peek().kind is Kind.WORD and self.peek(1).kind in (Kind.TEXT, Kind.BYTES)
        if is_prefix and (self.word.startswith("_") or self.word in ("DATE", "TIME", "TIMESTAMP")):
            self.next()
        self.skip_one()
        while self.is_sign("(") or self.accept_sign("."):
            self.skip_one()

    def _skip_nested(self, opens: str, closes: str) -> None:
        """Skip to the sign or keyword that closes the one that comes next."""
        depth = 0
        while True:
            if self.peek() is END:
                raise self.refused(closes)
            mark = self.word or (self.peek().value if self.peek().kind is Kind.SIGN else "")
            depth += (mark == opens) - (mark == closes)
            self.skip_one()
            if not depth:
                return

    def skip_element(self) -> None:
        """Skip to the end of an element of a list: its comma, the list's closing parenthesis, or the end."""
        while not (self.ended or self.is_sign(",") or self.is_sign(")")):
            self.skip_one()

    def end_before(self, *phrases: tuple[str, ...]) -> tuple[str, ...]:
        """Let the statement end before the first of these keywords that is not in parentheses, and return it."""
        at = self._at
        found: tuple[str, ...] = ()
        while not (self.ended or (found := next((phrase for phrase in phrases if self.at(*phrase)), ()))):
            self.skip_one()
        del self._tokens[self._at :]
        self._at = at
        return found

    def skip_rest(self) -> None:
        """Skip to the end of the statement."""
        while not self.ended:
            self.skip_one()
