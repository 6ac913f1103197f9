"""`python -m tools.explore_pictures`: make the pictures of the explorer that the README shows, in both themes.

They are docs/images/explore-light.png and explore-dark.png: the logs of the demo in Chromium, with an event and one of
its values chosen.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from binspark.cli.demo import SHOP
from binspark.explore.explorer import Explorer
from binspark.explore.search import Cursor, search
from binspark.explore.web_server import WebServer
from binspark.files.sources import find_logs
from tests.support.browser import BROWSER

FOLDER = Path(__file__).parent.parent / "docs" / "images"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_FIELD = "stock"
_SIZE = (1400, 760)


@contextmanager
def _served() -> Iterator[str]:
    """Serve the logs of the demo; yield the address of an event that updates a row."""
    explorer = Explorer(lambda: find_logs(SHOP / "mysql"))
    explorer.read_all()
    server = WebServer(explorer)
    worker = threading.Thread(target=server.run)
    worker.start()
    try:
        hit = search(explorer, "type", "UPDATE_ROWS", Cursor(), 60).hits[0]
        yield f"{server.address}#log={hit['name']}&pos={hit['pos']}"
    finally:
        server.stop()
        worker.join()


def take_picture(browser: Browser, address: str, scheme: Literal["light", "dark"], picture: Path) -> None:
    """Write a picture of the page with an event, and one of its values chosen."""
    width, height = _SIZE
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    page.locator("#fields tr[data-field]").filter(has_text=_FIELD).last.click()
    page.locator("#fields .picked").wait_for()
    page.mouse.move(width - 2, 2)
    page.screenshot(path=picture, animations="disabled")
    context.close()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with _served() as address, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        for scheme in SCHEMES:
            take_picture(browser, address, scheme, FOLDER / f"explore-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
