"""A real browser for pages: Debian's Chromium, without a window. Tests are skipped by name where there is none."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in _NAMES if (found := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: make programs")
_SECONDS = 120


def dump_dom(page: Path) -> str:
    """Return the document that the browser makes of a page."""
    return _run(page, "--dump-dom")


def screenshot(page: Path, picture: Path, *options: str) -> Path:
    """Write a picture of a page, and return its path."""
    _run(page, f"--screenshot={picture}", "--hide-scrollbars", *(options or ("--window-size=1100,3000",)))
    return picture


def _run(page: Path, *options: str) -> str:
    assert BROWSER is not None
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
    return done.stdout
