"""What kernels know of a log before they read it: its layout, and the TABLE_MAPs that Python has decoded."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import addressof, c_char_p, c_int64, c_void_p, cast, memset, sizeof
from typing import TYPE_CHECKING

from binspark.errors import DecodeError
from binspark.event import EventDecoder, TableMap
from binspark.frames import ChecksumAlgorithm, Framer, LogFormat
from binspark.frames.header import HEADER_LENGTH
from binspark.kernels.known_maps import KNOWN_MAPS, KnownMap
from binspark.kernels.sound.layout import POST_HEADERS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RowSizes = Callable[[tuple[int, ...], tuple[int, ...]], "npt.NDArray[np.int64] | None"]
"""Returns the sizes of the values of columns, by their types and type metadata: `columns.row_counts.row_sizes`."""

_EMPTY = 0xFF  # all bytes of -1
_MAX_KNOWN_MAPS = KNOWN_MAPS // 2
_MAX_KNOWN_BYTES = 8 << 20
_TABLE_ID_LENGTH = 6


def address_of(content: bytes) -> int:
    """Return the address of bytes, which is valid as long as they live."""
    return cast(c_char_p(content), c_void_p).value or 0


def has_usual_layout(log_format: LogFormat) -> bool:
    """Return whether `kernels.sound` and `kernels.cut` know the layout of events: that since MySQL 5.1."""
    return (
        log_format.header_length == HEADER_LENGTH
        and log_format.event_codes is None
        and log_format.checksum is not ChecksumAlgorithm.UNDEFINED
        and all(log_format.post_header_length(code) == length for code, length in POST_HEADERS.items())
    )


class KnownMaps:
    """TABLE_MAPs that decode, by table id, whether their tables are wanted, and the sizes of their values.

    Memory is bounded: if there are too many, all are forgotten.
    """

    def __init__(
        self,
        log_format: LogFormat,
        wants: Callable[[str], bool] | None = None,
        row_sizes: RowSizes | None = None,
    ) -> None:
        self._format = log_format
        self._wants = wants
        self._row_sizes = row_sizes
        self._decoder = EventDecoder()
        self._entries = (c_int64 * (KnownMap.COUNT * KNOWN_MAPS))()
        self._kept: dict[int, bytes] = {}
        self._sizes: dict[int, npt.NDArray[np.int64]] = {}
        self._bytes = 0
        self._forget()

    @property
    def address(self) -> int:
        """The address of the hash table."""
        return addressof(self._entries)

    def learn(self, event: bytes, offset: int, entry: int) -> bool:
        """Keep a TABLE_MAP if it decodes to its last byte, and is not too large; return whether it does.

        Its entry is at an address.
        """
        try:
            frame = next(Framer(self._format, offset).feed(event))
            decoded = self._decoder.decode(frame)
            if decoded.extra:
                return False
        except DecodeError:
            return False
        body = frame.body
        if len(body) > _MAX_KNOWN_BYTES:
            return False
        if len(self._kept) >= _MAX_KNOWN_MAPS or self._bytes + len(body) > _MAX_KNOWN_BYTES:
            self._forget()  # the kernel asks again for this one, with another entry
            return True
        table_id = int.from_bytes(body[:_TABLE_ID_LENGTH], "little")
        index = (entry - self.address) // sizeof(c_int64)
        self._bytes += len(body) - len(self._kept.get(table_id, b""))
        self._kept[table_id] = body
        table: TableMap = decoded.body
        self._entries[index + KnownMap.ID] = table_id
        self._entries[index + KnownMap.ADDRESS] = address_of(body)
        self._entries[index + KnownMap.LENGTH] = len(body)
        self._entries[index + KnownMap.WANTED] = self._wants is None or self._wants(f"{table.schema}.{table.table}")
        self._entries[index + KnownMap.COLUMNS] = table.column_count
        self._entries[index + KnownMap.SIZES] = self._sizes_of(table)
        return True

    def _sizes_of(self, table: TableMap) -> int:
        """Return the address of the sizes of the values of a table, 0 if they are not known."""
        sizes = self._row_sizes and self._row_sizes(table.column_types, table.column_metadata)
        if sizes is None:
            return 0
        self._sizes[table.table_id] = sizes
        return int(sizes.ctypes.data)

    def _forget(self) -> None:
        self._kept.clear()
        self._sizes.clear()
        self._bytes = 0
        memset(self.address, _EMPTY, sizeof(self._entries))
