"""How large leaves are, and how much memory may be used to write them."""

from __future__ import annotations

from dataclasses import dataclass, replace

_MEGABYTE = 1 << 20
_LEAVES_OF_A_TABLE = 64
_MIN_LEAF_BYTES = 8 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class LeafLimits:
    """Sizes of leaves. The results are the same rows whatever they are.

    leaf_bytes       the size of a leaf's file at which another is begun, at most; see `of_table`
    row_group_rows   the maximum rows of a row group
    row_group_bytes  the size of a row group in memory at which another is begun
    memory_bytes     the maximum bytes of rows in memory; what is more goes to temporary files
    """

    leaf_bytes: int = 64 * _MEGABYTE
    row_group_rows: int = 1 << 17
    row_group_bytes: int = 32 * _MEGABYTE
    memory_bytes: int = 256 * _MEGABYTE

    def of_table(self, table_bytes: int) -> LeafLimits:
        """Return the limits for a table of a size: smaller tables have smaller leaves.

        For a changed row its leaf is rewritten, so smaller leaves cost less to change, and more to read.
        """
        return replace(self, leaf_bytes=min(self.leaf_bytes, max(table_bytes // _LEAVES_OF_A_TABLE, _MIN_LEAF_BYTES)))
