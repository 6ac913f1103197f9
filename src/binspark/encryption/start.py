"""Where the encrypted part of MariaDB's logs begins, and what of the log is readable before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from binspark.encryption.keyring import MARIADB_BINLOG_KEY, Keyring
from binspark.encryption.mariadb import EventKey, begins_with_event
from binspark.encryption.start_event import without_encryption
from binspark.errors import DecodeError, Encrypted, Unsupported
from binspark.event.context import Context
from binspark.event.mariadb import StartEncryption, decode_start_encryption
from binspark.frames import EventCode, Frame, Framer, HeaderFlag
from binspark.wire import Cursor

_SCHEME = 1
_FIRST_EVENTS = 2


@dataclass(frozen=True, slots=True, repr=False)
class Begin:
    """How a log begins whose rest is encrypted.

    key       that of the events
    readable  the log up to its first encrypted event, as the server would send it
    relay     whether this is a relay log
    in_use    whether a server is writing it
    """

    key: EventKey
    readable: bytes
    relay: bool
    in_use: bool

    @property
    def first_event(self) -> int:
        """The position of the first encrypted event."""
        return len(self.readable)


def encryption_start(head: bytes, keyring: Keyring) -> Begin | None:
    """Return where the encrypted part of a log begins; None if it has none, or its first events cannot be read.

    The head has to contain the first encrypted event, or at least its first bytes.
    """
    frames = _first_frames(head)
    if len(frames) < _FIRST_EVENTS or frames[1].type_code != EventCode.START_ENCRYPTION:
        return None
    description, start = frames
    context = Context.of(start.type_code, start.format)
    body = decode_start_encryption(Cursor(start.data, start.body_start, start.body_end), context)
    readable = head[: start.offset] + without_encryption(start.data, has_checksum=bool(start.format.checksum_length))
    relay = bool(description.header.flags & HeaderFlag.RELAY_LOG)
    key = _event_key(body, keyring)
    for candidate in (key, replace(key, counter_mode=True)):
        if begins_with_event(candidate, head[start.end_offset :], start.end_offset, relay=relay):
            return Begin(candidate, readable, relay, bool(description.header.flags & HeaderFlag.BINLOG_IN_USE))
    message = f"the key in {keyring.name} does not decrypt the log ({_named(body)})"
    raise Encrypted(f"{message}; name the key file of the server that wrote it")


def _first_frames(head: bytes) -> list[Frame]:
    def frames() -> Iterator[Frame]:
        try:
            yield from Framer().feed(head)
        except DecodeError:
            return  # reported when the log is read

    return [frame for _, frame in zip(range(_FIRST_EVENTS), frames(), strict=False)]


def _event_key(start: StartEncryption, keyring: Keyring) -> EventKey:
    if start.scheme != _SCHEME:
        raise Unsupported(f"the log is encrypted by scheme {start.scheme}, expected scheme {_SCHEME}")
    found = dict(keyring.mariadb).get(MARIADB_BINLOG_KEY)
    if found is None:
        message = f"MariaDB encrypted the log ({_named(start)}), and the keyring {keyring.name} is not a key file of it"
        raise Encrypted(f"{message}; name the file of file_key_management_filename")
    return EventKey(found, start.nonce)


def _named(start: StartEncryption) -> str:
    return f"key {MARIADB_BINLOG_KEY}, version {start.key_version}"
