"""Memory for kernels: bytes, numbers and texts.

Not by NumPy: importing it takes as long as printing 100 MB.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from ctypes import addressof, c_char
from mmap import mmap

_PADDING = 64


class Buffer:
    """Bytes that kernels read and write, also a little after the end. Memory is used for what was touched of them.

    room      how many bytes there is room for
    address   of the first byte
    view      the bytes
    """

    __slots__ = ("address", "room", "view")

    def __init__(self, room: int) -> None:
        memory = mmap(-1, room + _PADDING)
        self.room = room
        self.view = memoryview(memory)
        self.address = addressof(c_char.from_buffer(memory))

    def grown(self, room: int, used: int) -> Buffer:
        """Return a larger buffer with the first bytes of this one."""
        larger = Buffer(room)
        larger.view[:used] = self.view[:used]
        return larger

    def move_to_start(self, start: int, end: int) -> None:
        """Move bytes to the start."""
        self.view[: end - start] = bytes(self.view[start:end])


def numbers(values: Iterable[int]) -> array[int]:
    """Return numbers of 64 bits as kernels read and write them. They must not be appended to: they would move."""
    return array("q", values)


def text_bytes(text: bytes) -> array[int]:
    """Return a text that kernels copy, together with what they read after its end."""
    return array("B", text + bytes(_PADDING))


def address_of(values: array[int]) -> int:
    """Return the address of the first number."""
    return values.buffer_info()[0]
