"""The catalog of an Iceberg target: a file of SQLite beside the tables, or any that pyiceberg can load."""

from __future__ import annotations

from collections.abc import Mapping

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.sql import SqlCatalog

from binspark.errors import OptionError
from binspark.files.storage.options import Storage
from binspark.mirror.files.directory import local_directory
from binspark.mirror.targets.iceberg.errors import iceberg_errors
from binspark.mirror.targets.storage_options import iceberg_properties

CATALOG = "binspark"
FILE = "catalog.db"


def open_catalog(uri: str | None, catalog: str | Mapping[str, str] | None, storage: Storage) -> Catalog:
    """Return a catalog by its name in pyiceberg's configuration, by its properties, or that of a directory."""
    properties = iceberg_properties(uri, storage) if uri else {}
    with iceberg_errors(uri or str(catalog), storage):
        if catalog is None:
            return _of_directory(uri or "", properties)
        if isinstance(catalog, str) and "=" not in catalog:
            return load_catalog(catalog, **properties)
        given = _parsed(catalog) if isinstance(catalog, str) else dict(catalog)
        name = given.pop("name", CATALOG)
        return load_catalog(name, **{**properties, **given})


def _of_directory(uri: str, properties: dict[str, str]) -> Catalog:
    directory = local_directory(uri)
    if directory is None:
        raise OptionError(
            f"is required with {uri}: without it, the catalog is a file of SQLite, which needs a directory of this "
            "machine. Name a catalog of pyiceberg's configuration, or give its properties: type=rest,uri=http://…",
            option="catalog",
        )
    directory.mkdir(parents=True, exist_ok=True)
    location = {"uri": f"sqlite:///{directory / FILE}", "warehouse": f"file://{directory}"}
    return SqlCatalog(CATALOG, **location, **properties)


def _parsed(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    for name, equals, _ in pairs:
        if not (name and equals):
            raise OptionError(
                f"must be a name, or properties as type=rest,uri=http://…, got {text!r}", option="catalog"
            )
    return {name.strip(): value.strip() for name, _, value in pairs}
