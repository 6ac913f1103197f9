"""Leaves: the data files of a mirrored table, each with all rows between two keys, in their order.

Changes are routed to ranges of keys, and the leaves of a range are rewritten with them. No other file is touched.
"""

from binspark.mirror.leaves.change_files import write_changes
from binspark.mirror.leaves.columns import ColumnRewrite, rewrite_columns
from binspark.mirror.leaves.leaf_reader import read_stored_rows, stored_rows, with_bounds, with_footers
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.moves import MoveResolver, has_moves
from binspark.mirror.leaves.plan import RangeTask, plan_tasks, route
from binspark.mirror.leaves.reduce import last_per_key, net_copies
from binspark.mirror.leaves.rewrite import Rewritten, rewrite, write_leaves

__all__ = [
    "ColumnRewrite",
    "LeafLimits",
    "MoveResolver",
    "RangeTask",
    "Rewritten",
    "has_moves",
    "last_per_key",
    "net_copies",
    "plan_tasks",
    "read_stored_rows",
    "rewrite",
    "rewrite_columns",
    "route",
    "stored_rows",
    "with_bounds",
    "with_footers",
    "write_changes",
    "write_leaves",
]
