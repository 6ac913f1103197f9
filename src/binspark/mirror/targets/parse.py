"""The target that a user names: a directory of Delta tables, or a catalog of Iceberg tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from binspark.errors import OptionError
from binspark.files.storage.options import Storage
from binspark.files.storage.uri import hide_credentials
from binspark.mirror.files.directory import local_directory
from binspark.mirror.targets.cuts import CUT_TABLE
from binspark.mirror.targets.target import Target
from binspark.options.arguments import wrong_argument

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


StorageOptions = Storage | Mapping[str, str | int | float | bool]
"""How a target is reached: arguments of pyarrow's file system for its scheme, or of fsspec's."""


class Format(StrEnum):
    """The format of a target's tables.

    DELTA         Delta, by delta-rs
    DELTA_MERGE   Delta, too; changes get into the tables by `MERGE` of Delta's own jar
    ICEBERG       Iceberg, by pyiceberg
    """

    DELTA = "delta"
    DELTA_MERGE = "delta-merge"
    ICEBERG = "iceberg"


def parse_target(
    target: str,
    kind: Format = Format.DELTA,
    catalog: str | Mapping[str, str] | None = None,
    storage: StorageOptions | None = None,
    spark: SparkSession | None = None,
) -> Target:
    """Return the target at a path or URI.

    catalog   of Iceberg: its name in pyiceberg's configuration, or its properties, as text or as a mapping; by default
              a file of SQLite in the target. With a catalog, the target may be empty: it decides where tables are
    storage   options of the file system
    spark     a session with Delta's jar, for changes to be merged by it; without one, tables are only read by their
              format, or written as Delta is
    """
    if not target and catalog is None:
        raise OptionError("must be a directory or a URI, got nothing", option="target")
    uri, user, query = hide_credentials(target)
    _check_directory(uri, kind)
    reached = _storage(storage).with_uri(user, query)
    try:
        if kind is Format.DELTA_MERGE and spark is not None:
            return _delta_merge(uri, catalog, reached, spark)
        return _MAKERS[kind](uri, catalog, reached)
    except ImportError as error:
        extra = "delta" if kind is Format.DELTA_MERGE else kind
        problem = f"{kind} requires a package that is not installed ({error}): pip install 'binspark[{extra}]'"
        raise OptionError(problem, option="format") from None


def _storage(given: StorageOptions | None) -> Storage:
    if given is None or isinstance(given, Storage):
        return given or Storage()
    if not isinstance(given, Mapping):
        raise wrong_argument("storage", "options of the file system, such as {'region': 'eu-west-1'}", given)
    return Storage.of(given)


def _check_directory(uri: str, kind: Format) -> None:
    """Refuse a file, and a directory on this machine with a mirror in the other format: both would be mirrors of it."""
    directory = local_directory(uri) if uri else None
    if directory is None or not directory.exists():
        return
    if not directory.is_dir():
        raise OptionError(f"must be a directory or a URI, got the file {directory}", option="target")
    cuts = directory / CUT_TABLE
    is_delta, is_iceberg = (cuts / "_delta_log").is_dir(), (cuts / "metadata").is_dir()
    if (is_delta or is_iceberg) and not (is_iceberg if kind is Format.ICEBERG else is_delta):
        found = Format.ICEBERG if is_iceberg else Format.DELTA
        problem = f"must be {found}, the format of the mirror in {directory}, got {kind}; use another target for {kind}"
        raise OptionError(problem, option="format")


def _delta(uri: str, catalog: str | Mapping[str, str] | None, storage: Storage) -> Target:
    from binspark.mirror.targets.delta.target import DeltaTarget

    return DeltaTarget(_delta_directory(uri, catalog), storage)


def _delta_merge(uri: str, catalog: str | Mapping[str, str] | None, storage: Storage, spark: SparkSession) -> Target:
    from binspark.mirror.targets.delta.merge import DeltaMerge
    from binspark.mirror.targets.delta.merge_target import DeltaMergeTarget

    return DeltaMergeTarget(_delta_directory(uri, catalog), storage, DeltaMerge(spark))


def _delta_directory(uri: str, catalog: str | Mapping[str, str] | None) -> str:
    if catalog is not None:
        raise OptionError("is only valid with Iceberg: Delta tables are found by their directory", option="catalog")
    local = local_directory(uri)
    return str(local) if local else uri


def _iceberg(uri: str, catalog: str | Mapping[str, str] | None, storage: Storage) -> Target:
    from binspark.mirror.targets.iceberg.catalogs import open_catalog
    from binspark.mirror.targets.iceberg.target import IcebergTarget

    local = local_directory(uri) if uri else None
    location = f"file://{local}" if local else uri or None
    return IcebergTarget(open_catalog(uri or None, catalog, storage), location, storage)


_MAKERS: Mapping[Format, Callable[[str, str | Mapping[str, str] | None, Storage], Target]] = {
    Format.DELTA: _delta,
    Format.DELTA_MERGE: _delta,
    Format.ICEBERG: _iceberg,
}
