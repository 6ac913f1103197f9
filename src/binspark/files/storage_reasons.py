"""Why a file system refused, in a few words and without secrets."""

from __future__ import annotations

import re

from binspark.files.storage import Storage

_LONGEST = 240
_AWS = re.compile(r"AWS Error (\w+) during \w+ operation: (.*)")
_GOOGLE = re.compile(r"google::cloud::Status\((\w+): (.*)")
# What a person cannot use: numbers of requests, of curl, and what no answer says.
_NOISE = re.compile(
    r"\s*\(Request ID: .*\)$|curlCode: .*?Details: | error_info=.*|.*with a last message of |No response body\.$"
)


def reason_of(error: Exception, storage: Storage) -> str:
    """Return the reason of an error."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    if named := _AWS.search(text) or _GOOGLE.search(text):
        kind, details = named[1].lower().replace("_", " "), _NOISE.sub("", named[2])
        text = f"{kind}: {details}" if details else kind
    return storage.redact(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
