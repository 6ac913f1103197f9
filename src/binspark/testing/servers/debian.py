"""Debian packages unpacked into a folder, with a private apt state.

Of the system's apt, only the configuration (proxies, architecture) is used. Its lists, package state, caches and hooks
are not touched, and root is not needed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
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
        """Return this archive as a deb822 source for one suite."""
        components = " ".join(self.components)
        lines = ["Types: deb", f"URIs: {self.uri}", f"Suites: {suite}", f"Components: {components}"]
        if self.signed_by:
            lines.append(f"Signed-By: {self.signed_by}")
        return "\n".join(lines) + "\n"


def machine_archive(apt_folder: Path = APT_FOLDER, os_release: Path = OS_RELEASE) -> tuple[Archive, str]:
    """Return the main archive of this machine's release, and the name of the release.

    The security and update archives have a suite with a suffix (`bookworm-security`), so the main archive is the one
    whose suite is the name of the release.
    """
    codename = release_codename(os_release)
    wanted = (codename, *ROLLING_SUITES)
    for archive in configured_archives(apt_folder):
        found = [suite for suite in archive.suites if suite in wanted]
        if found:
            return archive, codename or found[0]
    raise ServerUnavailable(f"no Debian archive for {codename or 'this release'} in {apt_folder}")


def release_codename(os_release: Path) -> str:
    """Return VERSION_CODENAME, empty if there is none."""
    if not os_release.is_file():
        return ""
    match = re.search(r'^VERSION_CODENAME="?([\w-]+)', os_release.read_text(), re.MULTILINE)
    return match[1] if match else ""


def configured_archives(apt_folder: Path) -> Iterator[Archive]:
    """Yield every enabled binary archive, from `.sources` and one-line `.list` files."""
    parts = apt_folder / "sources.list.d"
    for file in sorted(parts.glob("*.sources")):
        yield from parse_deb822(file.read_text())
    for file in (apt_folder / "sources.list", *sorted(parts.glob("*.list"))):
        if file.is_file():
            yield from parse_one_line(file.read_text().splitlines())


def parse_deb822(text: str) -> Iterator[Archive]:
    """Parse stanzas of `Field: value`, where a value may continue in indented lines."""
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
    """Parse lines of the form `deb [option=value …] uri suite component…`."""
    for line in lines:
        found = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s*)?([^#]+)", line)
        if found is None:
            continue
        options = dict(word.partition("=")[::2] for word in shlex.split(found[1] or ""))
        match found[2].split():
            case [uri, suite, *components] if components:
                yield Archive(uri, (suite,), tuple(components), options.get("signed-by", ""))


NOT_NEEDED = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/perl", "usr/share/lintian")


@dataclass(frozen=True, slots=True)
class PackageSet:
    """The packages to fetch.

    with_dependencies      packages with all dependencies down to the C library, so that the machine's do not matter
    without_dependencies   packages whose dependencies (perl, init scripts) only an installed service needs
    suite                  a Debian suite; empty for the release of this machine
    """

    with_dependencies: tuple[str, ...]
    without_dependencies: tuple[str, ...] = ()
    suite: str = ""


def unpack_packages(packages: PackageSet, root: Path) -> None:
    """Download the packages and unpack them into the empty folder `root`."""
    for program in ("apt-get", "apt-config", "dpkg-deb"):
        if shutil.which(program) is None:
            raise ServerUnavailable(
                f"{program} not found: servers are fetched from Debian's packages, or must be on the PATH"
            )
    archive, release = machine_archive()
    with tempfile.TemporaryDirectory(prefix="binspark-apt-") as folder:
        apt = _PrivateApt(Path(folder))
        apt.prepare(archive.stanza(packages.suite or release))
        apt.download(packages)
        for package_file in sorted(apt.archives.glob("*.deb")):
            _run(["dpkg-deb", "-x", str(package_file), str(root)])
    for unneeded in NOT_NEEDED:
        shutil.rmtree(root / unneeded, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _PrivateApt:
    """A private apt state in a folder: own lists, own cache, no package installed."""

    folder: Path

    @property
    def archives(self) -> Path:
        return self.folder / "cache/archives"

    def prepare(self, source: str) -> None:
        for name in ("sources", "empty", "state/lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "sources/debian.sources").write_text(source)
        (self.folder / "status").touch()
        (self.folder / "apt.conf").write_text(_machine_configuration() + self._own_configuration())

    def download(self, packages: PackageSet) -> None:
        self._apt_get("update")
        self._apt_get("install", "--yes", "--download-only", "--no-install-recommends", *packages.with_dependencies)
        if packages.without_dependencies:
            self._apt_get("download", *packages.without_dependencies)

    def _own_configuration(self) -> str:
        settings = {
            "Dir::Etc::main": "/dev/null",
            "Dir::Etc::parts": self.folder / "empty",
            "Dir::Etc::SourceList": "/dev/null",
            "Dir::Etc::SourceParts": self.folder / "sources",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": self.folder / "empty",
            "Dir::State": self.folder / "state",
            "Dir::State::status": self.folder / "status",
            "Dir::State::Lists": self.folder / "state/lists",
            "Dir::Cache": self.folder / "cache",
            "Dir::Cache::archives": self.archives,
            "Dir::Log": self.folder,
            "APT::Sandbox::User": "root",
            "APT::Update::Error-Mode": "any",  # otherwise an archive that cannot be reached is only a warning
            "Acquire::Languages": "none",
            "Acquire::Retries": "2",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        }
        return "".join(f'{name} "{value}";\n' for name, value in settings.items())

    def _apt_get(self, *arguments: str) -> None:
        environment = os.environ | {"APT_CONFIG": str(self.folder / "apt.conf"), "LC_ALL": "C.UTF-8"}
        _run(["apt-get", "-qq", *arguments], cwd=self.archives, environment=environment)


def _machine_configuration() -> str:
    """Return the machine's apt settings without its hooks, which change the system's own state."""
    lines = _run(["apt-config", "dump"]).splitlines(keepends=True)
    return "".join(line for line in lines if "-Invoke" not in line and not line.startswith("Dir::Etc::parts"))


def _run(command: Sequence[str], cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ServerUnavailable(f"{' '.join(command[:3])} failed: {done.stderr.strip()[-1000:]}")
    return done.stdout
