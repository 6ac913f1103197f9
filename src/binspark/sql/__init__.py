"""Logs as SQL that a server executes: the changes again, or their inverse in reverse order.

`binspark.sql(…)` is a function, and this package has the same name: importing one of its modules lets the name mean the
package. So the package can be called, too.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """A module that is called as the function of its name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from binspark.sql.api import sql

        return sql(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
