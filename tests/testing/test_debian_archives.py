"""The machine's apt sources, in both of their forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.testing.servers import ServerUnavailable
from binspark.testing.servers.debian import Archive, machine_archive, parse_deb822, parse_one_line

DEB822 = """\
# written by the installer
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb
URIs: http://mirror.example/other
Suites: bookworm
Components: main
Enabled: no
"""


def test_a_deb822_source_is_read() -> None:
    assert list(parse_deb822(DEB822)) == [
        Archive(
            uri="http://mirror.example/debian",
            suites=("bookworm", "bookworm-updates"),
            components=("main", "contrib"),
            signed_by="/usr/share/keyrings/debian.gpg",
        )
    ]


def test_a_key_inside_a_deb822_source_is_kept_with_its_lines() -> None:
    text = "Types: deb\nURIs: http://m\nSuites: sid\nComponents: main\nSigned-By:\n -----BEGIN\n .\n abc\n"
    (archive,) = parse_deb822(text)
    assert "Signed-By: \n -----BEGIN\n .\n abc\n" in archive.stanza("sid")


def test_one_line_sources_are_read() -> None:
    lines = [
        "# deb http://mirror.example/no bookworm main",
        "deb-src http://mirror.example/debian bookworm main",
        "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main contrib # ours",
        "deb http://mirror.example/debian sid main",
    ]
    assert list(parse_one_line(lines)) == [
        Archive("http://mirror.example/debian", ("bookworm",), ("main", "contrib"), "/k.gpg"),
        Archive("http://mirror.example/debian", ("sid",), ("main",)),
    ]


def test_the_main_archive_is_the_one_with_the_bare_suite(tmp_path: Path) -> None:
    (tmp_path / "sources.list").write_text(
        "deb http://mirror.example/debian-security bookworm-security main\n"
        "deb http://mirror.example/debian bookworm main\n"
    )
    os_release = tmp_path / "os-release"
    os_release.write_text('NAME="Debian"\nVERSION_CODENAME=bookworm\n')
    archive, release = machine_archive(tmp_path, os_release)
    assert (archive.uri, release) == ("http://mirror.example/debian", "bookworm")


def test_the_error_for_a_machine_without_an_archive_says_so(tmp_path: Path) -> None:
    with pytest.raises(ServerUnavailable, match="no Debian archive"):
        machine_archive(tmp_path, tmp_path / "os-release")
