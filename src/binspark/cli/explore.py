"""`binspark explore`: logs as a page in the browser."""

from __future__ import annotations

import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from binspark.cli.command import Command, click_option
from binspark.cli.inputs import Logs, ServerRange, log_options
from binspark.cli.live import stop_on_signal
from binspark.cli.output import echo, print_message
from binspark.errors import BinlogError, OptionError, SourceError
from binspark.files.sources import LogSource, find_logs
from binspark.files.storage.options import with_default_keyring
from binspark.options.explore import WEB_PORT
from binspark.render.summary import SHOW_SECRETS


@click.command("explore", cls=Command)
@log_options(default_start="latest", default_until="never")
@click_option(WEB_PORT)
@click.option("--browser", is_flag=True, help="Open the page in the browser.")
@click_option(SHOW_SECRETS)
def explore_command(logs: Logs, web_port: int | None, browser: bool, show_secrets: bool) -> int:
    """Show logs, or the log of a server (--host), as a page in the browser.

    FILE is a file, a glob, a directory, an index file, or a URI.

    The page has the transactions and their events, the bytes of each event with every field, its value and its meaning,
    what changes in each table, the history of rows, and the log over time. Active logs grow on the page, too. Of a
    server, its log is copied to a temporary folder as long as the command runs.

    The page is served to this machine only, at an address with a random token, and changes nothing. The command runs
    until it is interrupted (SIGINT or SIGTERM).
    """
    try:
        from binspark.explore.web_server import WebServer
    except ModuleNotFoundError as error:
        raise OptionError(f"explore needs {error.name}, which is not installed: pip install 'binspark[web]'") from None
    from binspark.explore.explorer import Explorer

    with _sources(logs) as find:
        server = WebServer(Explorer(find.logs, show_secrets=show_secrets), web_port or 0)
        find.on_end = server.stop
        if find.failed:  # before it was known what to stop
            server.stop()
        echo(f"open {server.address}")
        if browser:
            webbrowser.open(server.address)
        with stop_on_signal(server.stop):
            server.run()
    return 1 if find.failed else 0


class _Files:
    """The logs of files."""

    failed = False

    def __init__(self, files: tuple[str, ...]) -> None:
        self._files = files
        self._storage = with_default_keyring(None)
        self.on_end: Callable[[], None] = lambda: None

    def logs(self) -> list[LogSource]:
        """Return the logs that there are now."""
        return find_logs(self._files, self._storage)


class _Copies(_Files):
    """The copies of a server's logs, which an archiver makes."""

    def logs(self) -> list[LogSource]:
        """Return the logs that there are now, none before the first was begun."""
        try:
            return super().logs()
        except SourceError:
            return []


@contextmanager
def _sources(logs: Logs) -> Iterator[_Files]:
    if logs.server is None:
        yield _Files(logs.files)
        return
    with tempfile.TemporaryDirectory(prefix="binspark-explore-") as folder:
        copies = _Copies((folder,))
        with _copying(logs.server, folder, copies):
            yield copies


@contextmanager
def _copying(server: ServerRange, folder: str, copies: _Copies) -> Iterator[None]:
    """Copy the logs of a server while the page is open."""
    from binspark.live import open_archiver

    if server.until not in (None, "end"):
        raise OptionError(f"must be end or never for a page, got {server.until}", option="--until")
    archiver = open_archiver(
        folder,
        server.connection,
        start=server.start,
        until=None if server.until is None else "end",
        connection_server_id=server.connection_server_id,
        heartbeat_seconds=server.heartbeat_seconds,
    )

    def copy() -> None:
        try:
            archiver.run()
        except BinlogError as error:
            print_message(str(error))
            copies.failed = True
            copies.on_end()

    worker = threading.Thread(target=copy, name="binspark-explore-copy")
    worker.start()
    try:
        yield
    finally:
        archiver.stop()
        worker.join()
