"""An explanation as JSON: one object, keys in a fixed order."""

from __future__ import annotations

from typing import Any

from binspark.render.explain.explanation import Explanation, Field
from binspark.render.json_values import value_json


def explanation_record(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as one record. `inner` and `error` are null where they have nothing to say."""
    return {
        "file": explanation.file,
        "pos": explanation.pos,
        "end_pos": explanation.end_pos,
        "inner": explanation.inner,
        "type": explanation.type,
        "type_code": explanation.type_code,
        "fields": [_field_record(field) for field in explanation.fields],
        "checksum": explanation.checksum.value,
        "error": explanation.error,
    }


def _field_record(field: Field) -> dict[str, Any]:
    return {
        "offset": field.offset,
        "length": len(field.data),
        "hex": field.data.hex(),
        "section": field.section.value,
        "field": field.name,
        "kind": field.kind,
        "value": value_json(field.value),
        "meaning": field.meaning,
    }
