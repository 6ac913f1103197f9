"""MariaDB's encrypted logs: after START_ENCRYPTION, each event is encrypted by itself, and keeps its size.

The size is readable: the first four bytes of the event, encrypted, are where it would be in the rest. The IV of
an event is the nonce of START_ENCRYPTION and the position of the event. The plugin decides between two modes, and the
log does not say which it was: AES-CBC, whose last incomplete block is masked by the encrypted IV, or AES-CTR.

Events are decrypted together: blocks of AES-CBC depend only on encrypted bytes, so that one call decrypts those of all
events in a chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from binspark.encryption.ciphers import BLOCK, decrypt_blocks, encrypt_blocks
from binspark.frames.checksum import RESIDUE
from binspark.frames.codes import KNOWN_CODES
from binspark.frames.header import HEADER, HEADER_LENGTH, Header

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]

_SIZE_FIELD = 9
_SIZE = Struct("<I")
_MOVED = 4
"""How many bytes of an event the readable size replaces; the other bytes are encrypted in their order."""
_MOVED_TO = slice(_SIZE_FIELD - _MOVED, _SIZE_FIELD)
"""Where those bytes are in the first block."""
_NEXT_POSITION = slice(_SIZE_FIELD, _SIZE_FIELD + 4)
"""Where the next position is in the first block."""
_WRAP = 0xFFFFFFFF
SIZE_KNOWN = _SIZE_FIELD + _SIZE.size
_FIRST_BLOCK_END = _MOVED + BLOCK
_MAX_FLAGS = 1 << 10
_WORDS = np.dtype(">u8")


@dataclass(frozen=True, slots=True, repr=False)
class EventKey:
    """The key of one log, its nonce, and the mode."""

    key: bytes
    nonce: bytes
    counter_mode: bool = False

    def ivs(self, positions: Numbers) -> Bytes:
        """Return the IVs of events: an array of blocks."""
        ivs = np.empty((len(positions), BLOCK), np.uint8)
        ivs[:, : len(self.nonce)] = np.frombuffer(self.nonce, np.uint8)
        ivs[:, len(self.nonce) :] = (positions & _WRAP).astype("<u4").view(np.uint8).reshape(-1, 4)
        return ivs

    def decrypt(self, blocks: Bytes, ivs: Bytes, before: Bytes, first: Numbers, counters: Numbers) -> Bytes:
        """Return blocks decrypted.

        `first` are the numbers of the blocks with which a sequence begins, `ivs` the IVs of those sequences, `before`
        the encrypted blocks before them. `counters` are the numbers of the blocks in their events.
        """
        if self.counter_mode:
            lengths = np.diff(np.append(first, len(blocks)))
            return blocks ^ self.masks(np.repeat(ivs, lengths, axis=0), counters)
        plain = _as_blocks(decrypt_blocks(self.key, blocks.tobytes()))
        previous = np.empty_like(blocks)
        previous[1:] = blocks[:-1]
        previous[first] = before
        return plain ^ previous

    def tail_masks(self, ivs: Bytes, counters: Numbers) -> Bytes:
        """Return the masks of the incomplete blocks at the ends of events, by how many complete ones each has."""
        return self.masks(ivs, counters if self.counter_mode else np.zeros_like(counters))

    def masks(self, ivs: Bytes, counters: Numbers) -> Bytes:
        """Return IVs, plus a number each, encrypted."""
        words = ivs.copy().view(_WORDS).astype(np.uint64)
        low = words[:, 1] + counters.astype(np.uint64)
        carry = low < words[:, 1]
        words[:, 0] += carry
        words[:, 1] = low
        return _as_blocks(encrypt_blocks(self.key, words.astype(_WORDS).tobytes()))


def _as_blocks(data: bytes) -> Bytes:
    return np.frombuffer(data, np.uint8).reshape(-1, BLOCK)


class Middle(NamedTuple):
    """A block inside an event, from which on it is decrypted.

    event   the position of the event, and its size
    block   the number of the block
    before  the encrypted block before it
    """

    event: int
    size: int
    block: int
    before: bytes

    @property
    def position(self) -> int:
        """Where the block begins."""
        return self.event + _MOVED + BLOCK * self.block


# The bytes of an event in a buffer, as a row of numbers: where the event begins, its position in the log and its size,
# its first block that is to be decrypted, how many blocks are there from that on, and whether the end of the event is.
_COLUMNS = 6


class EventDecryptor:
    """Decrypts consecutive bytes of a log, from an event on, or from the middle of one.

    Each event shows by its next position that it was decrypted as it was encrypted. Bytes between one that does not and
    the next that does are damaged, and returned as they are. In relay logs next positions show nothing (`checked`).

    position   of the next byte that `feed` returns
    """

    def __init__(self, key: EventKey, start: int | Middle, *, checked: bool = True) -> None:
        self._key = key
        self._inside = start if isinstance(start, Middle) else None
        self.position = start.position if isinstance(start, Middle) else start
        self._checked = checked
        self._is_lost = False
        self._pending = b""

    def rest(self) -> bytes:
        """Return bytes in place of those that cannot be decrypted: zeros and the size of their event if it is known."""
        if self._is_lost:
            return self._pending
        rest = bytearray(len(self._pending))
        if self._inside is None:
            rest[_SIZE_FIELD:SIZE_KNOWN] = self._pending[_SIZE_FIELD:SIZE_KNOWN]
        return bytes(rest)

    def feed(self, data: bytes) -> bytes:
        """Take more bytes; return those that can be decrypted now."""
        self._pending += data
        chunks: list[bytes] = []
        while chunk := self._skipped() if self._is_lost else self._decrypted():
            chunks.append(chunk)
        return b"".join(chunks)

    def _decrypted(self) -> bytes:
        """Return the events and blocks that are there, up to the first that is damaged."""
        data = self._pending
        table = self._segments(data)
        if not len(table):
            return self._skipped() if self._is_lost else b""
        end = _end_of(table[-1])
        plain = np.frombuffer(data, np.uint8)[:end].copy()
        self._decrypt(data, table, plain)
        damaged = self._first_damaged(table, plain)
        if damaged is None:
            self._inside = _after(data, table[-1], self._inside)
            return self._taken(end, plain.tobytes())
        self._inside, self._is_lost = None, True
        return self._taken(damaged, plain[:damaged].tobytes()) or self._skipped()

    def _skipped(self) -> bytes:
        """Return damaged bytes as they are, up to the next event."""
        found = find_events(self._key, self._pending[1:], self.position + 1) if self._checked else []
        self._is_lost = not found
        end = found[0] - self.position if found else len(self._pending) - (_FIRST_BLOCK_END if self._checked else 0)
        return self._taken(max(0, end), self._pending[: max(0, end)])

    def _taken(self, length: int, returned: bytes) -> bytes:
        self._pending = self._pending[length:]
        self.position += length
        return returned

    def _segments(self, data: bytes) -> Numbers:
        """Return the events of which something can be decrypted."""
        begun = None if self._inside is None else self._inside.event - self.position
        at = 0 if self._inside is None or begun is None else begun + self._inside.size
        starts: list[int] = []
        end = len(data)
        unpack, last = _SIZE.unpack_from, end - SIZE_KNOWN
        while at <= last:
            (size,) = unpack(data, at + _SIZE_FIELD)
            if size < HEADER_LENGTH:
                self._is_lost = not starts and begun is None
                break
            starts.append(at)
            at += size
        offsets = np.array(starts if begun is None else [begun, *starts], np.int64)
        table = np.zeros((len(offsets), _COLUMNS), np.int64)
        if not len(offsets):
            return table
        sizes = np.append(np.diff(offsets), at - offsets[-1])
        table[:, 0], table[:, 1], table[:, 2] = offsets, offsets + self.position, sizes
        if self._inside is not None:
            table[0, 3] = self._inside.block
        complete = offsets + sizes <= end
        table[:, 4] = (np.where(complete, sizes, end - offsets) - _MOVED) // BLOCK - table[:, 3]
        table[:, 5] = complete
        is_readable = complete[-1] or table[-1, 4] > 0
        return table if is_readable else table[:-1]

    def _first_damaged(self, table: Numbers, plain: Bytes) -> int | None:
        """Return the offset of the first event whose next position is not its end; servers may write 0 there."""
        begun = table[table[:, 3] == 0]
        if not len(begun) or not self._checked:
            return None
        at, event, size = begun.T[:3]
        fields = plain[at[:, None] + SIZE_KNOWN + np.arange(4)].view("<u4")[:, 0]
        wrong = np.flatnonzero((fields != ((event + size) & _WRAP)) & (fields != 0))
        return int(at[wrong[0]]) if len(wrong) else None

    def _decrypt(self, data: bytes, table: Numbers, plain: Bytes) -> None:
        at, event, size, _block, count, complete = table.T
        ivs = self._key.ivs(event)
        source = np.frombuffer(data, np.uint8)
        has_blocks = np.flatnonzero(count)
        if len(has_blocks):
            self._decrypt_blocks(source, plain, table[has_blocks], ivs[has_blocks])
        blocks = (size - _MOVED) // BLOCK
        tails = np.flatnonzero((complete != 0) & ((size - _MOVED) % BLOCK != 0))
        if len(tails):
            masks = self._key.tail_masks(ivs[tails], blocks[tails])
            for tail in np.flatnonzero(blocks[tails] == 0):
                _unmask_short_event(plain, int(at[tails[tail]]), int(size[tails[tail]]), masks[tail])
            longer = np.flatnonzero(blocks[tails])
            starts = (at + _MOVED + BLOCK * blocks)[tails][longer]
            lengths = ((size - _MOVED) % BLOCK)[tails][longer]
            within = _ranges(lengths)
            places = np.repeat(starts, lengths) + within
            plain[places] ^= masks[longer][np.repeat(np.arange(len(longer)), lengths), within]

    def _decrypt_blocks(self, source: Bytes, plain: Bytes, table: Numbers, ivs: Bytes) -> None:
        at, _event, _size, block, count, _complete = table.T
        numbers = np.repeat(block, count) + _ranges(count)
        places = np.repeat(at, count) + _MOVED + BLOCK * numbers
        blocks = _every_block(source)[places].view(np.uint8).reshape(-1, BLOCK)
        first = np.cumsum(count) - count
        begins = np.flatnonzero(block == 0)
        moved = at[begins, None] + np.arange(_MOVED)
        blocks[first[begins], _MOVED_TO] = source[moved]
        before = ivs.copy()
        if block[0]:
            assert self._inside is not None
            before[0] = np.frombuffer(self._inside.before, np.uint8)
        decrypted = self._key.decrypt(blocks, ivs, before, first, numbers)
        _every_block(plain)[places] = decrypted.view(_BLOCK_TYPE)[:, 0]
        plain[moved] = decrypted[first[begins], _MOVED_TO]
        sizes = at[begins, None] + _SIZE_FIELD + np.arange(_MOVED)
        plain[sizes] = source[sizes]


_BLOCK_TYPE = np.dtype((np.void, BLOCK))


def _every_block(data: Bytes) -> NDArray[np.void]:
    """Return the blocks that begin at each byte, as a view."""
    return np.ndarray((len(data) - BLOCK + 1,), _BLOCK_TYPE, data, strides=(1,))


def _ranges(lengths: Numbers) -> Numbers:
    """Return 0, 1, … for each of some lengths, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)


def _end_of(segment: Numbers) -> int:
    """Return the offset after what can be decrypted of an event."""
    at, _event, size, block, count, complete = map(int, segment)
    return at + (size if complete else _MOVED + BLOCK * (block + count))


def _after(data: bytes, last: Numbers, inside: Middle | None) -> Middle | None:
    """Return where decryption continues: after the last blocks of an event that is not complete."""
    at, event, size, block, count, complete = map(int, last)
    if complete or not count:
        return None if complete else inside
    block += count
    start = at + _MOVED + BLOCK * (block - 1)
    before = bytearray(data[start : start + BLOCK])
    if block == 1:
        before[_MOVED_TO] = data[at : at + _MOVED]
    return Middle(event, size, block, bytes(before))


def _unmask_short_event(plain: Bytes, at: int, size: int, mask: Bytes) -> None:
    """Decrypt an event that has not one complete block: a header without a body."""
    encrypted = plain[at + _MOVED : at + size].copy()
    encrypted[_MOVED_TO] = plain[at : at + _MOVED]
    decrypted = encrypted ^ mask[: len(encrypted)]
    length = plain[at + _SIZE_FIELD : at + SIZE_KNOWN].copy()
    plain[at + _MOVED : at + size] = decrypted
    plain[at : at + _MOVED] = decrypted[_MOVED_TO]
    plain[at + _SIZE_FIELD : at + SIZE_KNOWN] = length


def event_size(head: bytes) -> int:
    """Return the size of an event that begins with some bytes; 0 if they are too few, or it is none."""
    if len(head) < SIZE_KNOWN:
        return 0
    size = int(_SIZE.unpack_from(head, _SIZE_FIELD)[0])
    return size if size >= HEADER_LENGTH else 0


def middle_of(event: int, size: int, position: int, block_before: Callable[[int, int], bytes]) -> Middle:
    """Return the block of an event in which a position is, not the first; `block_before` reads the one before it."""
    block = (position - event - _MOVED) // BLOCK
    start = event + _MOVED + BLOCK * (block - 1)
    return Middle(event, size, block, block_before(start, BLOCK))


def begins_with_event(key: EventKey, data: bytes, position: int, *, relay: bool) -> bool:
    """Return whether a key decrypts the event with which data begins; True if there is too little to decide.

    The next position or the checksum show it. In a relay log without checksums, only the type and the flags do.
    """
    if len(data) < _FIRST_BLOCK_END:
        return True
    size = event_size(data)
    plain = EventDecryptor(key, position, checked=False).feed(data[: max(size, _FIRST_BLOCK_END)])
    if size == 0 or len(plain) < HEADER_LENGTH:
        return False
    header = Header._make(HEADER.struct.unpack_from(plain))
    if header.next_position == (position + size) & _WRAP or (len(plain) == size and crc32(plain) == RESIDUE):
        return True
    is_known = header.type_code in KNOWN_CODES and header.flags < _MAX_FLAGS
    return is_known and (relay or header.next_position == 0)


def find_events(key: EventKey, data: bytes, position: int) -> list[int]:
    """Return the positions at which events begin in bytes from anywhere in a log.

    An event is found by its next position, which, decrypted with the IV for where it would begin, is its end.
    """
    source = np.frombuffer(data, np.uint8)
    count = len(source) - _MOVED - BLOCK + 1
    if count <= 0:
        return []
    offsets = np.arange(count)
    sizes = np.ndarray((count,), "<u4", source, _SIZE_FIELD, strides=(1,)).astype(np.int64)
    offsets = offsets[sizes >= HEADER_LENGTH]
    blocks = _every_block(source)[offsets + _MOVED].view(np.uint8).reshape(-1, BLOCK)
    blocks[:, _MOVED_TO] = source[offsets[:, None] + np.arange(_MOVED)]
    ivs = key.ivs(offsets + position)
    each = np.arange(len(blocks))
    plain = key.decrypt(blocks, ivs, ivs, each, np.zeros_like(each))
    next_positions = plain[:, _NEXT_POSITION].copy().view("<u4")[:, 0].astype(np.int64)
    ends = (offsets + sizes[offsets] + position) & _WRAP
    return [position + int(offset) for offset in offsets[next_positions == ends]]
