"""The registry: one row for each type, and the classes that the package exports."""

from __future__ import annotations

from importlib import import_module
from typing import get_type_hints

import pytest

from binspark.event import registry
from binspark.event.registry import CODECS
from binspark.frames import EventCode, type_name


def test_every_known_type_has_a_row() -> None:
    assert set(CODECS) == set(EventCode)


@pytest.mark.parametrize("type_code", sorted(CODECS), ids=type_name)
def test_a_decoder_returns_the_class_of_its_row(type_code: int) -> None:
    codec = CODECS[type_code]
    assert get_type_hints(codec.decode)["return"] is codec.body


def test_the_package_exports_the_class_of_every_row() -> None:
    package = import_module("binspark.event")
    classes = {codec.body for codec in CODECS.values()}
    assert set(registry.__all__) == {kind.__name__ for kind in classes}
    assert {getattr(package, kind.__name__) for kind in classes} == classes
    assert set(registry.__all__) < set(package.__all__)
