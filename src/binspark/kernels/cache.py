"""The switch for keeping compiled kernels on disk. Programs turn it on where they begin; importing kernels does not.

Compiling the kernels that read a log takes half a minute, loading them from disk less than a second. Turning the switch
on writes nothing: a kernel is looked for when it is called for the first time, and kept if it had to be compiled. This
module imports nothing, because commands that need no kernel turn the switch on, too. `kernels.compiler` does the rest.
"""

from __future__ import annotations


class _Switch:
    on = False


def enable() -> None:
    """Keep compiled kernels on disk from now on, also those of modules that are imported already."""
    _Switch.on = True


def disable() -> None:
    """Neither load nor keep compiled kernels from now on."""
    _Switch.on = False


def is_enabled() -> bool:
    """Return whether compiled kernels are kept."""
    return _Switch.on
