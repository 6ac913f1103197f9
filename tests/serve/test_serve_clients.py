"""Clients of a served archive: who may connect, how, and what becomes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymysql
import pytest

import binspark
from binspark.errors import Authentication, ConnectionLost, OptionError
from binspark.frames import EventCode
from binspark.gtid import GtidSet
from binspark.replication.channel import PacketChannel
from binspark.replication.commands import BinlogDump, BinlogDumpGtid, DumpFlag
from binspark.serve import admission
from binspark.server.config import connection_config
from tests.corpus.cases import CORPUS
from tests.support.serve.clients import PLAIN, SECONDS, config_of, dumping, refusal, serving

MYSQL, MARIADB = CORPUS / "mysql/rotation", CORPUS / "mariadb/rotation"
PASSWORD = "säcret"


def read_all(channel: PacketChannel) -> None:
    """Read until the connection ends, which is an error."""
    while True:
        channel.read(SECONDS)


@pytest.mark.parametrize("archive", [MYSQL, MARIADB], ids=["mysql", "mariadb"])
@pytest.mark.parametrize("ssl_mode", ["disabled", "required"])
def test_a_client_with_the_password_connects_encrypted_or_not(archive: Path, ssl_mode: str) -> None:
    with serving(archive, password=PASSWORD, user="reader") as served:
        config = config_of(served, user="reader", password=PASSWORD, ssl_mode=ssl_mode)
        with binspark.connect(config) as connection:
            assert connection.rows("SELECT CURRENT_USER()") == [("reader@127.0.0.1",)]


@pytest.mark.parametrize("archive", [MYSQL, MARIADB], ids=["mysql", "mariadb"])
@pytest.mark.parametrize(
    "wrong", [{"password": "secret"}, {"password": ""}, {"user": "root"}, {"user": "root", "password": ""}]
)
def test_a_client_with_a_wrong_user_or_password_is_refused(archive: Path, wrong: dict[str, str]) -> None:
    with serving(archive, password=PASSWORD) as served:
        config = config_of(served, **{"user": "repl", "password": PASSWORD, **wrong})
        with pytest.raises(Authentication, match="Access denied for user"):
            binspark.connect(config)


def test_a_server_without_a_password_refuses_a_password() -> None:
    with serving(MYSQL) as served, pytest.raises(Authentication, match="using password: YES"):
        binspark.connect(config_of(served, password="x"))


def test_a_certificate_that_the_user_gives_can_be_verified(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-keyout", str(key), "-out", str(cert), "-days", "2", "-subj", "/CN=archive"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    with serving(MYSQL, ssl_cert=cert, ssl_key=key) as served:
        binspark.connect(config_of(served, ssl_mode="verify_identity", ssl_ca=str(cert))).close()
    with serving(MYSQL) as served, pytest.raises(Authentication, match="TLS with this server failed"):
        binspark.connect(config_of(served, ssl_mode="verify_ca", ssl_ca=str(cert)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bind": "0.0.0.0"}, r"^password_file is required to listen on 0\.0\.0\.0"),
        ({"bind": "::"}, "^password_file is required to listen on ::"),
        ({"bind": "192.0.2.1", "password": "x"}, r"^bind 192\.0\.2\.1 and port 0 cannot be listened on"),
        ({"password_file": "no-such-file"}, "^password_file no-such-file cannot be read: No such file"),
        ({"password_file": os.devnull}, "^password_file /dev/null has no password in its first line"),
        ({"ssl_cert": os.devnull}, "^ssl_cert cannot be used"),
        ({"ssl_key": "key.pem"}, "^ssl_key requires ssl_cert"),
        ({"server_id": 0}, "^server_id must be from 1"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        binspark.open_server(MYSQL, **{"port": 0, **options})


def test_a_replica_that_connects_again_ends_its_old_connection() -> None:
    command = BinlogDump(4, DumpFlag.NONE, 77, "binlog.000001")
    same = {**PLAIN, "slave_uuid": "096e4dd5-e1b9-11f1-ad2e-02fc00000001"}
    with serving(MYSQL) as served, dumping(config_of(served), command, same) as old:
        old.read(SECONDS)
        with dumping(config_of(served), command, same) as new, binspark.connect(config_of(served)) as connection:
            new.read(SECONDS)
            assert [row[0] for row in connection.rows("SHOW REPLICAS")] == [77]
            with pytest.raises(ConnectionLost):
                read_all(old)


@pytest.mark.parametrize(
    ("archive", "flags", "code"),
    [
        (MYSQL, DumpFlag.NONE, EventCode.HEARTBEAT),
        (MYSQL, DumpFlag.HEARTBEAT_V2, EventCode.HEARTBEAT_V2),
        (MARIADB, DumpFlag.ANNOTATE_ROWS, EventCode.HEARTBEAT),
    ],
)
def test_an_idle_reader_gets_heartbeats(archive: Path, flags: DumpFlag, code: EventCode) -> None:
    last = max(path for path in archive.iterdir() if path.suffix[1:].isdecimal())
    command = BinlogDump(4, flags, 77, last.name)
    wanted = {**PLAIN, "master_heartbeat_period": 50_000_000}
    for options, variables in (({}, wanted), ({"heartbeat_seconds": 0.05}, PLAIN)):
        with serving(archive, **options) as served, dumping(config_of(served), command, variables) as channel:
            heartbeats = 0
            while heartbeats < 2:
                packet = bytes(channel.read(SECONDS))
                heartbeats += packet[5] == code
            assert last.name.encode() in packet
            assert int.from_bytes(packet[14:18], "little") == last.stat().st_size


def test_one_client_too_many_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MAX_CLIENTS", 1)
    with (
        serving(MYSQL) as served,
        binspark.connect(config_of(served)),
        pytest.raises(pymysql.err.OperationalError, match=r"1040.*Too many connections"),
    ):
        pymysql.connect(host="127.0.0.1", port=served.port, user="repl")


def test_unknown_commands_and_garbage_do_not_end_the_server() -> None:
    import socket

    with serving(MYSQL) as served:
        with socket.create_connection(("127.0.0.1", served.port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
            client.shutdown(socket.SHUT_WR)
            while client.recv(1 << 16):
                pass
        with binspark.connect(config_of(served)) as connection:
            assert connection.rows("SELECT 1") == [(1,)]


@pytest.mark.parametrize("archive", [MYSQL, MARIADB], ids=["mysql", "mariadb"])
def test_our_own_follower_reads_the_same_events_as_from_the_files(archive: Path) -> None:
    with serving(archive) as served, binspark.follow(config_of(served), start="earliest", until="end") as follower:
        followed = [(event.type, event.body) for chunk in follower for event in chunk.events()]
    expected = [(event.type, event.body) for event in binspark.events(archive)]
    assert followed == [event for event in expected if event[0] in {kind for kind, _ in followed}]
    assert len(followed) > 10


def test_our_own_follower_starts_by_gtids() -> None:
    with serving(MYSQL) as served, binspark.connect(config_of(served)) as connection:
        executed = GtidSet(str(connection.rows("SELECT @@global.gtid_executed")[0][0]))
        uuid = executed.uuids[0]
        start = GtidSet(f"{uuid}:1-{executed.last(uuid) - 2}")
        with binspark.follow(config_of(served), start=str(start), until="end") as follower:
            gtids = [event.body.gtid for chunk in follower for event in chunk.events() if event.type == "GTID"]
    assert GtidSet.of(gtids) == executed - start


def test_a_position_past_4_gib_is_understood() -> None:
    command = BinlogDumpGtid(DumpFlag.NON_BLOCK, 9, GtidSet(), "binlog.000001", 5 << 30)
    with serving(MYSQL) as served:
        assert refusal(config_of(served), command).message.endswith("from position > file size")


# --- The command ------------------------------------------------------------------------------------------------------


def start_command(*arguments: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    command = [sys.executable, "-m", "binspark", "serve", *arguments, "--port", "0", "--format", "jsonl"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    first: dict[str, Any] = json.loads(process.stderr.readline())
    return process, first


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_a_signal_and_ends_its_clients(number: signal.Signals, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text(f"{PASSWORD}\nsecond line\n", encoding="utf-8")
    process, first = start_command(str(MYSQL), "--password-file", str(password), "--server-id", "99")
    try:
        config = connection_config(host=first["address"], user="repl", password=PASSWORD, environ={})
        command = BinlogDump(4, DumpFlag.NONE, 77, "binlog.000001")
        with dumping(config, command) as channel:
            assert channel.read(SECONDS)
            process.send_signal(number)
            with pytest.raises(ConnectionLost):
                read_all(channel)
        _, messages = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert first["server_id"] == 99
    texts = [json.loads(line)["message"] for line in messages.splitlines()]
    assert any("server 77 reads from binlog.000001:4" in text for text in texts)
    assert any("server 77 has read up to binlog." in text for text in texts)


def test_tail_follows_a_served_archive() -> None:
    with serving(MYSQL) as served:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "binspark", "tail", "--no-defaults", "-h", "127.0.0.1", "-u", "repl"),
                *("-P", str(served.port), "--start", "earliest", "--until", "end", "--format", "jsonl"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stderr == ""
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(list(binspark.rows(MYSQL)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bind", "0.0.0.0"], "--password-file is required to listen on 0.0.0.0"),
        (["--port", "x"], "--port must be an integer, got 'x'"),
    ],
)
def test_the_command_names_options_as_they_are_typed(arguments: list[str], message: str) -> None:
    command = [sys.executable, "-m", "binspark", "serve", str(MYSQL), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
