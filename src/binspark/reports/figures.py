"""Pictures need matplotlib, which is an extra: this loads it, or says what to install."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError("plots need matplotlib: pip install 'binspark[report]'") from None
    return Figure(figsize=(width, height), layout="constrained")
