"""An archiver for a folder of this machine or a store, whichever a caller names."""

from __future__ import annotations

from pathlib import Path

from binspark.archive.archiver import Archiver, OnReport
from binspark.archive.depot import LocalDepot
from binspark.archive.folder import ArchiveFolder
from binspark.archive.settings import ArchiveSettings
from binspark.client.options import ConnectionOptions
from binspark.errors import OptionError
from binspark.files.storage import Storage
from binspark.files.storage.uri import parse_uri


def open_archiver(
    connection: ConnectionOptions,
    target: str | Path,
    settings: ArchiveSettings | None = None,
    on_report: OnReport | None = None,
    *,
    spool: str | Path | None = None,
    storage: Storage | None = None,
) -> Archiver:
    """Return an archiver that copies a server's logs to a folder of this machine, or to a URI of a store.

    >>> archiver = open_archiver(connection_options(hosts="db1"), "s3://bucket/logs/")  # doctest: +SKIP
    >>> archiver.run()  # doctest: +SKIP

    On their way to a store, logs grow in the folder `spool`. `storage` says how the store is reached, where the URI and
    the environment do not.
    """
    settings = settings or ArchiveSettings()
    uri = parse_uri(str(target))
    if uri is None or uri.is_local:
        if spool is not None:
            raise OptionError("spool: logs that are kept on this machine grow where they are")
        folder = ArchiveFolder(Path(str(target) if uri is None else uri.local_path()))
        return Archiver(connection, folder, LocalDepot(folder, settings.keep), settings, on_report)
    return _for_store(connection, str(target), settings, on_report, spool, storage)


def _for_store(
    connection: ConnectionOptions,
    target: str,
    settings: ArchiveSettings,
    on_report: OnReport | None,
    spool: str | Path | None,
    storage: Storage | None,
) -> Archiver:
    from binspark.archive.spool import default_spool
    from binspark.archive.store import Store
    from binspark.archive.store_depot import StoreDepot

    store = Store(target, storage)
    folder = ArchiveFolder(Path(spool) if spool is not None else default_spool(store.uri))
    depot = StoreDepot(folder, store, settings.keep, settings.upload_seconds)
    return Archiver(connection, folder, depot, settings, on_report)
