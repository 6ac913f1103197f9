"""The file of the plugin keyring_file, which MySQL had before its keyring components (up to 8.3)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from binspark.errors import DecodeError, Malformed
from binspark.wire import Cursor

PLUGIN_MAGIC = b"Keyring file version:"

_VERSION_LENGTH = len(b"1.0")
_END = b"EOF"
_ALIGNMENT = 8
# Keys are not stored as they are; this hides them from somebody who looks at the file, nothing more.
_OBFUSCATION = b"*305=Ljt0*!@$Hnm(*-9-w;:"


def plugin_keys(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the ids and keys: of each the lengths of four fields, then the fields, padded to 8 bytes."""
    cursor = Cursor(content, len(PLUGIN_MAGIC) + _VERSION_LENGTH)
    try:
        while content[cursor.offset :][: len(_END)] != _END:
            start = cursor.offset
            size, *lengths = (cursor.u64("length") for _ in range(5))
            key_id, _type, _user, key = (cursor.raw("field", length) for length in lengths)
            yield key_id.decode("latin-1"), bytes(a ^ b for a, b in zip(key, cycle(_OBFUSCATION), strict=False))
            cursor.raw("padding", -(cursor.offset - start) % _ALIGNMENT)
            if cursor.offset - start != size:
                raise Malformed("a key has another length than its fields")
    except DecodeError:
        raise Malformed("the keyring is not a complete file of keyring_file; copy it again") from None
