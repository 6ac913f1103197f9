"""Frames into events: one class for each type, and one registry that has them all.

The names of this package are loaded when they are first used. The classes of events come from the registry, so that an
event is listed there and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from binspark.lazy import names_in

if TYPE_CHECKING:
    from binspark.event.codec import EventDecoder as EventDecoder
    from binspark.event.codec import decode_body as decode_body
    from binspark.event.codec import decode_event as decode_event
    from binspark.event.codec import encode_body as encode_body
    from binspark.event.codec import inner_events as inner_events
    from binspark.event.context import Context as Context
    from binspark.event.event import Event as Event
    from binspark.event.registry import *  # noqa: F403 (its __all__ is the list of event classes)
    from binspark.event.rows import RowOperation as RowOperation
else:
    _NAMES = {
        "codec": "EventDecoder decode_body decode_event encode_body inner_events",
        "context": "Context",
        "event": "Event",
        "rows": "RowOperation",
    }
    _load = names_in(__name__, _NAMES)
    _listed = frozenset(" ".join(_NAMES.values()).split())

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            from binspark.event.registry import __all__ as classes

            return sorted(_listed.union(classes))
        # Names of modules and dunder names must not load the registry.
        if name in _listed or not name[:1].isupper():
            return _load(name)
        from binspark.event import registry

        if name not in registry.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(registry, name)
