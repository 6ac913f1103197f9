"""One process compiles a kernel, others that need it meanwhile wait for what it keeps on disk."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from zlib import crc32

from binspark.folders import READABLE_FOLDER
from binspark.kernels.machine_code import kernel_folder
from binspark.private_files import create_folder

MAX_SECONDS = 120.0
"""How long a process waits before it compiles the kernel itself: file systems may lock badly."""

_POLL_SECONDS = 0.02


@contextmanager
def compile_lock(name: str, form: tuple[str, ...]) -> Iterator[None]:
    """Hold the lock of a kernel for arguments of some types, among the processes that keep kernels in this folder.

    It is a lock of one byte of a file: the system releases it when the process ends, and a process that is forked
    meanwhile does not get it. A folder that cannot be written to, or has no locks, is no error: nobody waits then.
    """
    with ExitStack() as held:
        with suppress(ImportError, OSError):
            import fcntl

            folder = kernel_folder()
            create_folder(folder, READABLE_FOLDER)
            file = held.enter_context(open(folder / "lock", "ab"))
            offset = crc32(f"{name}{form}".encode())
            deadline = time.monotonic() + MAX_SECONDS
            while time.monotonic() < deadline:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
                    break
                except BlockingIOError:
                    time.sleep(_POLL_SECONDS)
        yield
