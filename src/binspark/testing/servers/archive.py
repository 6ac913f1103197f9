"""The Debian archive this machine already trusts: its address and key, read from apt's own files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from binspark.testing.servers.errors import ServerUnavailable

APT_FOLDER = Path("/etc/apt")
OS_RELEASE = Path("/etc/os-release")
ROLLING_SUITES = ("stable", "testing", "unstable", "sid")


@dataclass(frozen=True, slots=True)
class Archive:
    """A package archive. `signed_by` is a key file, or the key itself; empty for apt's default keys."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str = ""

    def stanza(self, suite: str) -> str:
        """Write this archive as a deb822 source for one suite."""
        components = " ".join(self.components)
        lines = ["Types: deb", f"URIs: {self.uri}", f"Suites: {suite}", f"Components: {components}"]
        if self.signed_by:
            lines.append(f"Signed-By: {self.signed_by}")
        return "\n".join(lines) + "\n"


def machine_archive(apt_folder: Path = APT_FOLDER, os_release: Path = OS_RELEASE) -> tuple[Archive, str]:
    """Find the main archive of this machine's release, and the release's name.

    The security and update archives carry a suite with a suffix (`bookworm-security`), so the archive that
    has the bare name is the main one.
    """
    codename = release_codename(os_release)
    wanted = (codename, *ROLLING_SUITES)
    for archive in configured_archives(apt_folder):
        found = [suite for suite in archive.suites if suite in wanted]
        if found:
            return archive, codename or found[0]
    raise ServerUnavailable(f"no Debian archive for {codename or 'this release'} in {apt_folder}")


def release_codename(os_release: Path) -> str:
    """Read VERSION_CODENAME; empty when the machine does not say."""
    if not os_release.is_file():
        return ""
    match = re.search(r'^VERSION_CODENAME="?([\w-]+)', os_release.read_text(), re.MULTILINE)
    return match[1] if match else ""


def configured_archives(apt_folder: Path) -> Iterator[Archive]:
    """Read every enabled binary archive, from `.sources` and one-line `.list` files."""
    parts = apt_folder / "sources.list.d"
    for file in sorted(parts.glob("*.sources")):
        yield from parse_deb822(file.read_text())
    for file in (apt_folder / "sources.list", *sorted(parts.glob("*.list"))):
        if file.is_file():
            yield from parse_one_line(file.read_text().splitlines())


def parse_deb822(text: str) -> Iterator[Archive]:
    """Read stanzas of `Field: value`, where a value may go on in indented lines."""
    for paragraph in re.split(r"\n\s*\n", text):
        fields = _deb822_fields(paragraph)
        enabled = fields.get("enabled", "yes").lower() not in ("no", "false", "0")
        if not enabled or "deb" not in fields.get("types", "").split():
            continue
        for uri in fields.get("uris", "").split():
            yield Archive(
                uri=uri,
                suites=tuple(fields.get("suites", "").split()),
                components=tuple(fields.get("components", "").split()),
                signed_by=fields.get("signed-by", ""),
            )


def _deb822_fields(paragraph: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in paragraph.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace() and name:
            fields[name] += f"\n{line}"
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields


def parse_one_line(lines: Iterable[str]) -> Iterator[Archive]:
    """Read `deb [option=value …] uri suite component…` lines."""
    for line in lines:
        match = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s*)?([^#]+)", line)
        words = match[2].split() if match else []
        if match and len(words) > 2:
            options = dict(word.partition("=")[::2] for word in shlex.split(match[1] or ""))
            signed_by = options.get("signed-by", "")
            yield Archive(uri=words[0], suites=(words[1],), components=tuple(words[2:]), signed_by=signed_by)
