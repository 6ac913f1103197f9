"""One archiver for one folder of a store, as far as a store can tell.

No store of objects has locks. A file says who writes there, and since when it has said so; an archiver that finds the
word of another one, not long ago, stops. Two that begin in the same moment on two machines may both go on.
"""

from __future__ import annotations

import json
import time
from typing import Any

from binspark.archive.lock import LOCK_NAME, told_holder, who_i_am
from binspark.archive.store import Store
from binspark.errors import OptionError
from binspark.position import Position

_MISSED = 3


class StoreLock:
    """The word of this archiver, which it renews. `spool` tells it from others on the same machine."""

    def __init__(self, store: Store, spool: str, every_seconds: float) -> None:
        self._store = store
        self._every_seconds = every_seconds
        self._word = {**who_i_am(), "spool": spool}

    def take(self) -> None:
        """Refuse to begin while another archiver is at work; one that has not said so for a while is gone."""
        content = self._store.read(LOCK_NAME)
        if content is not None and self._is_held(content):
            message = f"another archiver writes to this folder: {told_holder(content)}"
            raise OptionError(message, Position(file=self._store.uri))
        self.renew()

    def renew(self) -> None:
        """Say that this archiver is at work."""
        word = {**self._word, "renewed": int(time.time()), "seconds": self._every_seconds}
        self._store.put(LOCK_NAME, json.dumps(word).encode() + b"\n")

    def release(self) -> None:
        """Say that it no longer is."""
        self._store.delete(LOCK_NAME)

    def _is_held(self, content: bytes) -> bool:
        """Tell whether somebody else is at work. Who had the same spool on this machine has ended: its lock is ours."""
        try:
            word: dict[str, Any] = json.loads(content)
            if (word["host"], word["spool"]) == (self._word["host"], self._word["spool"]):
                return False
            return time.time() - float(word["renewed"]) < _MISSED * float(word["seconds"])
        except (ValueError, KeyError, TypeError):
            return False
