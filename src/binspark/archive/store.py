"""A folder of a store: anything that pyarrow or fsspec writes to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from binspark.archive.names import is_log_name
from binspark.errors import BinlogError, SourceError
from binspark.files.sources import log_order
from binspark.files.storage import NO_OPTIONS, Storage
from binspark.files.storage.remote import reason_of
from binspark.files.storage.systems import System, open_system
from binspark.files.storage.uri import child_uri, hide, parse_uri
from binspark.position import Position

_CHUNK = 1 << 20
_SHOWN_WHEN_WHOLE = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss"})
"""Stores in which nobody sees a file before all of it is there. Elsewhere it is written under another name first."""


class Store:
    """What is kept under a URI. A failure is a `SourceError` that names the file, and never a secret."""

    def __init__(self, uri: str, storage: Storage | None = None) -> None:
        self.uri, user, query = hide(uri)
        self._storage = (storage or NO_OPTIONS).with_uri(user, query)
        parts = parse_uri(self.uri)
        assert parts is not None
        self._parts = parts

    def logs(self) -> dict[str, int]:
        """Return the logs that are there, and their sizes, oldest first."""
        from pyarrow.fs import FileSelector, FileType

        with self._told(""):
            found = self._files.get_file_info(FileSelector(self._path(""), allow_not_found=True))
        sizes = {info.base_name: int(info.size) for info in found if info.type == FileType.File}
        return {name: sizes[name] for name in sorted(filter(is_log_name, sizes), key=log_order)}

    def read(self, name: str, length: int | None = None, offset: int = 0) -> bytes | None:
        """Return a file, or a part of it; None if it is not there."""
        from pyarrow.fs import FileType

        with self._told(name):
            info = self._files.get_file_info(self._path(name))
            if info.type != FileType.File:
                return None
            with self._files.open_input_file(self._path(name)) as file:
                return bytes(file.read_at(info.size if length is None else length, offset))

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file from the store."""
        with (
            self._told(name),
            self._files.open_input_stream(self._path(name)) as source,
            target.open("wb") as file,
        ):
            while chunk := source.read(_CHUNK):
                file.write(chunk)

    def put(self, name: str, content: bytes) -> None:
        """Store a file, in place of what is there."""
        with self._writing(name) as file:
            file.write(content)

    def put_file(self, name: str, source: Path, size: int) -> None:
        """Store the first bytes of a file, and make sure that all of them are there."""
        with self._writing(name) as file, source.open("rb") as content:
            left = size
            while left and (chunk := content.read(min(_CHUNK, left))):
                file.write(chunk)
                left -= len(chunk)
        with self._told(name):
            stored = self._files.get_file_info(self._path(name)).size
        if stored != size:
            raise SourceError(f"{stored} bytes were stored, not {size}", Position(file=self._uri_of(name)))

    def delete(self, name: str) -> None:
        """Remove a file, if it is there."""
        with self._told(name), suppress(FileNotFoundError):
            self._files.delete_file(self._path(name))

    @contextmanager
    def _writing(self, name: str) -> Iterator[Any]:
        """Write a file that takes the place of the one of its name when it is whole."""
        at_once = self._parts.scheme in _SHOWN_WHEN_WHOLE
        path = self._path(name)
        written = path if at_once else self._path(f".{name}.new")
        with self._told(name):
            if not at_once:
                self._files.create_dir(self._path(""), recursive=True)
            with self._files.open_output_stream(written) as file:
                yield file
            if not at_once:
                with suppress(FileNotFoundError):
                    self._files.delete_file(path)
                self._files.move(written, path)

    @property
    def _system(self) -> System:
        return open_system(self._parts.scheme, self._parts.host, self._storage)

    @property
    def _files(self) -> Any:
        """The file system as it is now: what fsspec remembers of directories may be outdated."""
        files = self._system.files
        if handler := getattr(files, "handler", None):
            handler.fs.invalidate_cache()
        return files

    def _path(self, name: str) -> str:
        return self._system.path(self._parts.path.rstrip("/") + (f"/{name}" if name else ""))

    def _uri_of(self, name: str) -> str:
        return child_uri(self.uri, name) if name else self.uri

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        try:
            yield
        except BinlogError:
            raise
        except Exception as error:
            raise SourceError(reason_of(error, self._storage), Position(file=self._uri_of(name))) from None
