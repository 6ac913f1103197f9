"""A check as one call: `binspark.check_mirror`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from binspark.errors import OptionError
from binspark.files.storage.uri import hide_credentials
from binspark.kernels import cache
from binspark.mirror.api import Source, make_settings, read_tables
from binspark.mirror.check.catch_up import Advance
from binspark.mirror.check.report import CheckReport
from binspark.mirror.check.run import CopyAgain, OnTable, check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.targets.parse import Format, StorageOptions, parse_target
from binspark.options.arguments import path_argument
from binspark.options.mirror import CHECK_OPTIONS, CheckArguments
from binspark.options.option import OptionTable, Surface, warn_renamed
from binspark.options.server import connection_arguments
from binspark.server.config import ConnectionConfig, connection_config

_OPTIONS = OptionTable(CHECK_OPTIONS, Surface.PYTHON, warn_renamed)
_NAMES = frozenset(option.name for option in CHECK_OPTIONS)


def check_mirror(
    source: Source,
    target: str | os.PathLike[str],
    tables: str | Iterable[str],
    *,
    storage: StorageOptions | None = None,
    advance: Advance | None = None,
    copy_again: CopyAgain | None = None,
    on_range: OnTable | None = None,
    **options: Unpack[CheckArguments],
) -> CheckReport:
    """Compare mirrored tables with those of a server, row by row through checksums; return what differs.

    source       the server: the options of a connection as a dictionary
    target       a directory or a URI
    tables       names, or patterns such as `shop.*`
    advance      is called with a position that the mirror shall reach; without it, a mirror that runs is waited for
    copy_again   is called with a table without a key that `repair` shall repair: all of it has to be copied again
    on_range     is called with what was found so far, after each range of keys

    The other options are those of `CheckArguments`. Neither the server nor the mirror has to stop meanwhile.

    >>> report = binspark.check_mirror({"host": "db1", "user": "repl"}, "lake/", "shop.*")  # doctest: +SKIP
    >>> report.is_equal  # doctest: +SKIP
    True
    """
    cache.enable()
    named: dict[str, Any] = dict(options)
    own = _OPTIONS.find_all({name: named.pop(name) for name in _NAMES & named.keys()})
    given = {name: option.read(value, Surface.PYTHON) for name, (option, value) in own.items() if value is not None}
    patterns, others = read_tables(tables, named)
    kind, catalog = Format(others.pop("format", Format.DELTA)), others.pop("catalog", None)
    wait = {"wait_seconds": given.pop("check_seconds")} if "check_seconds" in given else {}
    settings = CheckSettings(columns=make_settings(others).columns, **wait, **given)
    location = path_argument(target, "target", "a directory or a URI")
    found = parse_target(location, kind, catalog, storage)
    config = _config(source)
    report = check(config, found, patterns, settings, advance=advance, copy_again=copy_again, on_range=on_range)
    if not report.tables:  # nothing was compared, so nothing is proven
        shown = ", ".join(sorted(patterns.tables))
        raise OptionError(f"must match a table of {hide_credentials(location)[0]}, got {shown}", option="tables")
    return report


def _config(source: Source) -> ConnectionConfig:
    if isinstance(source, ConnectionConfig):
        return source
    if isinstance(source, Mapping):
        return connection_config(**connection_arguments(source))
    raise OptionError("must be a server: a mirror is compared with its tables", option="source")
