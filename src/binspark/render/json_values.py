"""Decoded values as JSON: exact, in a fixed order, nothing dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, get_type_hints

from binspark.event import (
    Event,
    GtidEvent,
    GtidTagged,
    LargeTransactionHeader,
    MariadbGtidEvent,
    PartialRowData,
    Query,
    Rows,
    TableMap,
    TransactionPayload,
)
from binspark.event.column_types import column_type_name
from binspark.event.context import SqlText
from binspark.event.status_vars import StatusVariable
from binspark.event.table_metadata import MetadataField


def shown_text(name: str, raw: bytes) -> dict[str, str]:
    """Return text under its name; text that is not UTF-8 with escapes, and in addition as hex under `name_hex`."""
    try:
        return {name: raw.decode()}
    except UnicodeDecodeError:
        return {name: readable(raw), f"{name}_hex": f"0x{raw.hex()}"}


def readable(raw: bytes) -> str:
    r"""Return text with every byte that is not UTF-8 written as `\xNN`."""
    return raw.decode(errors="backslashreplace")


Json = Any

# Fields that exist only so that an event can be encoded again byte for byte; shown if they are not empty.
_SHOWN_WHEN_NOT_EMPTY = frozenset(
    {"padding", "server_version_padding", "view_id_padding", "unknown_fields", "metadata_rest", "extra_info"}
)
# Compressed copies of other fields, and one without a meaning.
_NEVER_SHOWN = frozenset({"compressed", "length_byte"})


def body_json(event: Event) -> dict[str, Json]:
    """Return the decoded fields of an event."""
    special = _SPECIAL.get(type(event.body))
    shown = special(event) if special else _dataclass_json(event.body)
    if event.extra:
        shown["extra"] = _hex(event.extra)
    return shown


def value_json(value: Any) -> Json:
    """Return one decoded value as JSON."""
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return _hex(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if is_dataclass(value) and not hasattr(value, "__iter__") and not _has_text_form(value):
        return _dataclass_json(value)
    if isinstance(value, tuple):
        return _tuple_json(value)
    return str(value)


def _dataclass_json(value: Any) -> dict[str, Json]:
    shown: dict[str, Json] = {}
    kind: Any = type(value)
    for name, is_text in _shown_fields(kind):
        part = getattr(value, name)
        if name in _SHOWN_WHEN_NOT_EMPTY and not part:
            continue
        if is_text:
            shown.update(shown_text(name, part))
        else:
            shown[name] = value_json(part)
    return shown


@lru_cache(maxsize=256)
def _shown_fields(kind: Any) -> tuple[tuple[str, bool], ...]:
    """Return the names of a class's fields, and whether each is text in a client's character set."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple((field.name, hints[field.name] == SqlText) for field in fields(kind) if field.name not in _NEVER_SHOWN)


def _tuple_json(value: tuple[Any, ...]) -> Json:
    if value and isinstance(value[0], StatusVariable | MetadataField):
        return {part.name: _named_value(part) for part in value}
    if hasattr(value, "_fields"):
        return {name: value_json(part) for name, part in zip(value._fields, value, strict=True)}
    return [value_json(part) for part in value]


def _named_value(part: StatusVariable | MetadataField) -> Json:
    if isinstance(part, MetadataField) and part.name.endswith("_str_value"):
        return [[_member(member) for member in members] for members in part.value]
    return value_json(part.value)


def _member(member: bytes) -> str:
    """Return a member of an ENUM or SET as text; in hex if it is not UTF-8, because its character set is not known."""
    try:
        return member.decode()
    except UnicodeDecodeError:
        return _hex(member)


def _has_text_form(value: Any) -> bool:
    return "__str__" in vars(type(value))


def _hex(value: bytes) -> str:
    return f"0x{value.hex()}"


def _gtid(event: Event) -> dict[str, Json]:
    gtid = event.body.gtid
    return {**_dataclass_json(event.body), "gtid": str(gtid) if gtid else None}


def _mariadb_gtid(event: Event) -> dict[str, Json]:
    gtid = event.body.gtid(event.header.server_id)
    return {**_dataclass_json(event.body), "gtid": str(gtid)}


def _query(event: Event) -> dict[str, Json]:
    body: Query = event.body
    shown = _dataclass_json(body)
    shown["status_vars"] = _tuple_json(body.status_vars) if body.status_vars else {}
    return shown


def _table_map(event: Event) -> dict[str, Json]:
    body: TableMap = event.body
    shown = _dataclass_json(body)
    shown["column_types"] = [column_type_name(code) for code in body.column_types]
    shown["metadata"] = _tuple_json(body.metadata) if body.metadata else {}
    shown["nullable"] = list(body.nullable)
    if not body.has_type_metadata:
        del shown["column_metadata"], shown["nullable"]
    del shown["null_bits"], shown["has_type_metadata"]
    return shown


def _rows(event: Event) -> dict[str, Json]:
    body: Rows = event.body
    shown = _dataclass_json(body)
    shown["columns"] = _column_numbers(body, body.columns)
    if body.columns_after is None:
        del shown["columns_after"]
    else:
        shown["columns_after"] = _column_numbers(body, body.columns_after)
    del shown["rows"]
    shown["rows_size"] = len(body.rows)
    return shown


def _column_numbers(body: Rows, bitmap: bytes) -> list[int]:
    return [index + 1 for index, present in enumerate(body.present(bitmap)) if present]


def _sized(name: str) -> Callable[[Event], dict[str, Json]]:
    """Return a function that shows an event with the size of a field instead of its bytes."""

    def shown(event: Event) -> dict[str, Json]:
        size = len(getattr(event.body, name))
        return {
            (f"{name}_size" if key == name else key): (size if key == name else value)
            for key, value in _dataclass_json(event.body).items()
        }

    return shown


_SPECIAL: dict[type, Callable[[Event], dict[str, Json]]] = {
    GtidEvent: _gtid,
    GtidTagged: _gtid,
    MariadbGtidEvent: _mariadb_gtid,
    Query: _query,
    TableMap: _table_map,
    Rows: _rows,
    TransactionPayload: _sized("payload"),
    LargeTransactionHeader: _sized("padding"),
    PartialRowData: _sized("fragment"),
}
