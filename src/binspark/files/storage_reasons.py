"""Why a file system refused, in a few words and without secrets."""

from __future__ import annotations

import re

from binspark.files.storage import Storage

_LONGEST = 240
_AWS = re.compile(r"AWS Error (\w+) during \w+ operation: (.*)", re.DOTALL)
_REQUEST = re.compile(r"\s*\(Request ID: .*\)$", re.DOTALL)


def reason_of(error: Exception, storage: Storage) -> str:
    """Return the reason of an error."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    text = str(error) or type(error).__name__
    if aws := _AWS.search(text):
        text = f"{aws[1].lower().replace('_', ' ')}: {_REQUEST.sub('', aws[2])}"
    first_line = text.strip().splitlines()[0]
    shown = first_line if len(first_line) <= _LONGEST else f"{first_line[:_LONGEST]}…"
    return storage.redact(shown)
