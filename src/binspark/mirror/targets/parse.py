"""The target that a user names: a directory of Delta tables, or a catalog of Iceberg tables."""

from __future__ import annotations

from enum import StrEnum

from binspark.errors import OptionError
from binspark.files.storage.options import Storage
from binspark.files.storage.uri import hide_credentials
from binspark.mirror.targets.target import Target


class Format(StrEnum):
    """The format of a target's tables."""

    DELTA = "delta"
    ICEBERG = "iceberg"


def parse_target(
    target: str, kind: Format = Format.DELTA, catalog: str | None = None, storage: Storage | None = None
) -> Target:
    """Return the target at a path or URI."""
    if not target:
        raise OptionError("must be a directory or a URI, got nothing", option="target")
    uri, user, query = hide_credentials(target)
    reached = (storage or Storage()).with_uri(user, query)
    if kind is Format.DELTA:
        return _delta(uri, catalog, reached)
    raise OptionError("must be delta", option="format")


def _delta(uri: str, catalog: str | None, storage: Storage) -> Target:
    if catalog is not None:
        raise OptionError("is only valid with Iceberg: Delta tables are found by their directory", option="catalog")
    try:
        from binspark.mirror.targets.delta.target import DeltaTarget
    except ImportError:
        raise OptionError(
            "delta requires the package deltalake: pip install 'binspark[delta]'", option="format"
        ) from None
    return DeltaTarget(uri, storage)
