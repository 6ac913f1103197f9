"""An archiver for a folder of this machine or a store, whichever a caller names."""

from __future__ import annotations

from pathlib import Path

from binspark.archive.archiver import Archiver, OnReport
from binspark.archive.depot import LocalDepot
from binspark.archive.folder import ArchiveFolder
from binspark.archive.settings import ArchiveSettings
from binspark.client.options import ConnectionOptions
from binspark.files.storage_uri import parse_uri


def open_archiver(
    connection: ConnectionOptions,
    target: str | Path,
    settings: ArchiveSettings | None = None,
    on_report: OnReport | None = None,
) -> Archiver:
    """Return an archiver that copies a server's logs to a folder.

    >>> archiver = open_archiver(connection_options(hosts="db1"), "archive/")  # doctest: +SKIP
    >>> archiver.run()  # doctest: +SKIP
    """
    settings = settings or ArchiveSettings()
    uri = parse_uri(str(target))
    folder = ArchiveFolder(Path(str(target) if uri is None else uri.local_path()))
    return Archiver(connection, folder, LocalDepot(folder, settings.keep), settings, on_report)
