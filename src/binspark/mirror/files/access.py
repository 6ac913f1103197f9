"""The data files of a table, opened to be read or written."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pyarrow as pa

from binspark.files.storage.remote import store_errors
from binspark.mirror.files.data_file import TableDirectory
from binspark.mirror.files.directory import Directory, is_absolute, open_directory

_OBJECT_STORES = ("s3", "gcs", "abfs")


def new_path(directory: TableDirectory) -> str:
    """Return a path for a new file that no other file has."""
    name = f"leaf-{uuid.uuid4().hex}.parquet"
    return f"{directory.data.strip('/')}/{name}" if directory.data.strip("/") else name


def file_name(path: str) -> str:
    """Return the last part of a path."""
    return path.rpartition("/")[2]


@contextmanager
def file_errors(directory: TableDirectory, path: str) -> Iterator[None]:
    """Turn what goes wrong in the block into an error that names the file."""
    with store_errors(_shown(directory, path), directory.storage):
        yield


def open_file(directory: TableDirectory, path: str) -> pa.NativeFile:
    """Open a file to read it."""
    with file_errors(directory, path):
        folder, inner = _located(directory, path)
        return folder.files.open_input_file(inner)


def create_file(directory: TableDirectory, path: str) -> pa.NativeFile:
    """Create a file to write it."""
    with file_errors(directory, path):
        folder, inner = _located(directory, path)
        _make_parent(folder, inner)
        return folder.files.open_output_stream(inner)


def remove(directory: TableDirectory, path: str) -> None:
    """Remove a file that no version of the table has, if it is there."""
    folder, inner = _located(directory, path)
    with suppress(OSError):
        folder.files.delete_file(inner)


def is_there(directory: TableDirectory, path: str) -> bool:
    """Return whether there is a file."""
    from pyarrow.fs import FileType

    with file_errors(directory, path):
        folder, inner = _located(directory, path)
        return folder.files.get_file_info(inner).type is FileType.File


def _located(directory: TableDirectory, path: str) -> tuple[Directory, str]:
    if is_absolute(path):
        file = open_directory(path, directory.storage)
        return file, file.root
    folder = open_directory(directory.uri, directory.storage)
    return folder, folder.path(path)


def _make_parent(folder: Directory, path: str) -> None:
    """Make the directory of a file where there are directories."""
    if folder.files.type_name not in _OBJECT_STORES:
        folder.files.create_dir(path.rpartition("/")[0], recursive=True)


def _shown(directory: TableDirectory, path: str) -> str:
    return path if is_absolute(path) else f"{directory.uri.rstrip('/')}/{path}"
