"""The front door: what `import binspark` offers, and that one call is enough."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import binspark
from binspark import errors
from binspark.server.config import Address, ConnectionConfig, Tls, TlsMode

SERVERS = ["connect", "follow", "open_archiver", "BinlogPosition", "ServerInfo"]


@pytest.fixture(autouse=True)
def no_password_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BINSPARK_PASSWORD", raising=False)
    monkeypatch.delenv("MYSQL_PWD", raising=False)


def error_classes() -> dict[str, type]:
    return {
        name: kind
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and kind.__module__ == errors.__name__
    }


@pytest.mark.parametrize("name", error_classes())
def test_every_error_class_is_public(name: str) -> None:
    assert name in binspark.__all__
    assert getattr(binspark, name) is error_classes()[name]


@pytest.mark.parametrize("name", SERVERS)
def test_servers_are_public(name: str) -> None:
    assert name in binspark.__all__
    assert (getattr(binspark, name).__doc__ or "").strip()


def test_every_public_name_is_listed_and_documented_once() -> None:
    assert sorted(set(binspark.__all__)) == binspark.__all__
    assert set(binspark.__all__) <= set(dir(binspark))


def test_one_call_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[ConnectionConfig] = []
    monkeypatch.setattr("binspark.server.connection.connect", seen.append)
    binspark.connect(host=["db1", "db2:3307"], port=4000, user="me", password="x", ssl_mode="required", ssl_ca="/ca")
    addresses = (Address("db1", 4000), Address("db2", 3307))
    assert seen == [ConnectionConfig(addresses, "me", "x", Tls(TlsMode.REQUIRED, "/ca"))]


def test_a_configured_connection_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[ConnectionConfig] = []
    monkeypatch.setattr("binspark.server.connection.connect", seen.append)
    config = ConnectionConfig((Address("db1"),), "me")
    binspark.connect(config)
    assert seen == [config]
    with pytest.raises(binspark.OptionError, match=r"^user cannot be combined with a connection that is configured"):
        binspark.connect(config, user="you")


def test_one_call_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        "binspark.replication.follow.follow", lambda *arguments, until: seen.append((*arguments, until))
    )
    binspark.follow(host="db1", user="me", start="earliest", until="end", connection_server_id=7, heartbeat_seconds=2.5)
    ((config, start, settings, until),) = seen
    assert (config.addresses, start, until) == ((Address("db1"),), "earliest", "end")
    assert (settings.stream.connection_server_id, settings.stream.heartbeat_seconds) == (7, 2.5)


def test_one_call_opens_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = SimpleNamespace()

    def open_archiver(*arguments: Any, **options: Any) -> None:
        seen.arguments, seen.options = arguments, options

    monkeypatch.setattr("binspark.archive.archiver.open_archiver", open_archiver)
    binspark.open_archiver(
        tmp_path, host="db1", user="me", start="latest", keep_days=3, keep_bytes="2G", progress_seconds=0, spool="s"
    )
    config, target, settings, on_progress = seen.arguments
    assert (config.addresses, target, on_progress) == ((Address("db1"),), str(tmp_path), None)
    assert (settings.start, settings.progress_seconds, settings.until_end) == ("latest", 0.0, False)
    assert (settings.keep.days, settings.keep.bytes) == (3.0, 2 << 30)
    assert seen.options == {"spool": "s", "storage": None}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: binspark.connect(hots="db1"), r"^there is no option hots; did you mean host\?$"),  # type: ignore[call-arg]
        (lambda: binspark.connect(connect_timeout=-1), "^connect_timeout must be positive, got -1$"),
        (lambda: binspark.follow(until="tomorrow"), "^until must be end, file:position, .* got 'tomorrow'$"),
        (lambda: binspark.open_archiver("a", keep_days=0), "^keep_days must be positive, got 0$"),
        (lambda: binspark.open_archiver("a", keepdays=1), r"^there is no option keepdays; did you mean keep_days\?$"),  # type: ignore[call-arg]
    ],
    ids=["unknown", "connect", "follow", "archive", "unknown of an archive"],
)
def test_a_wrong_option_is_named(call: Any, message: str) -> None:
    with pytest.raises(binspark.OptionError, match=message):
        call()


@pytest.mark.parametrize("name", ["latest", "table_at"])
def test_without_pyspark_the_extra_to_install_is_named(name: str) -> None:
    program = f"import sys; sys.modules['pyspark'] = None; import binspark; binspark.{name}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert f"binspark.{name} needs pyspark, which is not installed: pip install 'binspark[spark]'" in ended.stderr


def _mirror_opened_without_pyspark(tmp_path: Path, arguments: str) -> str:
    call = f"binspark.open_mirror(None, {{'host': 'db1'}}, {str(tmp_path)!r}, 'shop.*'{arguments})"
    program = f"import sys; sys.modules['pyspark'] = None; import binspark; {call}; print('opened')"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr


def test_a_mirror_needs_no_pyspark(tmp_path: Path) -> None:
    assert _mirror_opened_without_pyspark(tmp_path, "") == "opened\n"


def test_a_history_without_pyspark_names_the_extra_to_install(tmp_path: Path) -> None:
    shown = _mirror_opened_without_pyspark(tmp_path, ", history=True")
    assert "OptionError: history needs pyspark, which is not installed: pip install 'binspark[spark]'" in shown
