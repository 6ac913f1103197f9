"""The values that rows get in a column that ALTER TABLE adds: the log has no row events for them."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

import pyarrow as pa

from binspark.columns.types import DATETIME
from binspark.event.column_types import ColumnType as T
from binspark.values.column import Column

_NUMBERS = frozenset({T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG, T.FLOAT, T.DOUBLE, T.NEWDECIMAL, T.YEAR, T.BIT})
_TEXTS = frozenset({T.STRING, T.VARCHAR, T.VAR_STRING, T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB})
_DATES = frozenset({T.DATE, T.NEWDATE, T.DATETIME, T.DATETIME2})


class NotConstant(ValueError):
    """The values of a new column cannot be known from the statement that adds it."""


def constant(default: str | None, column: Column, kind: pa.DataType) -> pa.Scalar:
    """Return the value that all rows get in a new column, in its type; raise `NotConstant` if it is not known.

    `default` is the text of the constant after DEFAULT, None if there is none.
    """
    if default is None:
        return pa.scalar(None, kind) if column.nullable else _implicit(column, kind)
    try:
        return _literal(default, column, kind)
    except NotConstant:
        raise
    except (ValueError, ArithmeticError, pa.ArrowTypeError):
        raise NotConstant(f"the default of {column.name} is {default!r}, which is not understood") from None


def _implicit(column: Column, kind: pa.DataType) -> pa.Scalar:
    """Return what a column that is NOT NULL has without a default: zero, an empty text, the first member."""
    if column.type in _NUMBERS:
        return _number("0", kind, column.scale)
    if column.type in _TEXTS and column.type is not T.STRING:
        return pa.scalar("" if kind == pa.string() else b"", kind)
    if column.type is T.STRING and kind == pa.string():
        return pa.scalar("", kind)
    if column.type is T.ENUM and column.members:
        return pa.scalar(column.members[0], kind)
    if column.type is T.SET:
        return pa.scalar([], kind)
    raise NotConstant(f"{column.name} has no default")


def _literal(text: str, column: Column, kind: pa.DataType) -> pa.Scalar:
    if column.type in (T.STRING, T.VARCHAR, T.VAR_STRING, T.ENUM) and kind == pa.string() and not column.notation:
        return pa.scalar(_stored_text(text, column), kind)
    if column.type in _NUMBERS and column.type not in (T.BIT, T.YEAR):
        return _number(text, kind, column.scale)
    if column.type in _DATES:
        return _moment(text, kind)
    raise NotConstant(f"the default of {column.name} is of a type that is not converted here")


def _stored_text(text: str, column: Column) -> str:
    """Return a text as the server stores it: that of CHAR without spaces at its end, of ENUM as the member is.

    Numbers may be written without quotes: 007 is stored as 7, and the number of a member instead of its name.
    """
    is_choice = column.type is T.ENUM
    if _NUMBER.match(text) and (is_choice or not _PLAIN_NUMBER.fullmatch(text)):
        raise NotConstant(f"the default of {column.name} is {text!r}, which may be a number or a text")
    if is_choice and text not in (column.members or ()):
        raise NotConstant(f"{text!r} is not a member of {column.name}")
    return text.rstrip(" ") if column.type is T.STRING else text


_NUMBER = re.compile(r"[-+]?[\d.]")
_PLAIN_NUMBER = re.compile(r"0|-?[1-9]\d*")


def _number(text: str, kind: pa.DataType, scale: int) -> pa.Scalar:
    """Return a number. One that has to be rounded is not known: servers do not all round in the same way."""
    number = Decimal(text)
    if pa.types.is_integer(kind):
        if number != int(number):
            raise NotConstant(f"{text} is not an integer")
        return pa.scalar(int(number), pa.int64()).cast(kind)
    if pa.types.is_decimal(kind):
        rounded = number.quantize(Decimal(1).scaleb(-kind.scale))
        if rounded != number:
            raise NotConstant(f"{text} has more than {kind.scale} digits after the decimal point")
        return pa.scalar(rounded, kind)
    if pa.types.is_floating(kind) and not scale:
        return pa.scalar(float(text), kind)
    raise NotConstant(f"{text} of type {kind}")


def _moment(text: str, kind: pa.DataType) -> pa.Scalar:
    """Return a date or time that is written as servers print it. They read other forms by rules of their own."""
    if not _MOMENT.fullmatch(text):
        raise NotConstant(f"{text!r} is not written as YYYY-MM-DD or YYYY-MM-DD hh:mm:ss")
    if text.startswith("0000-00-00") and kind != pa.string():
        return pa.scalar(None, kind)
    if kind == pa.date32():
        return pa.scalar(datetime.date.fromisoformat(text), kind)
    if kind == DATETIME:
        return pa.scalar(datetime.datetime.fromisoformat(text), kind)
    raise NotConstant(f"{text} of type {kind}")


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?")
