"""Logs that real servers encrypted, byte for byte what the servers send; active logs, relay logs, a replaced key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import binspark
from binspark.files import LogSource, find_logs
from binspark.files.keyring_file import keyring_storage
from binspark.testing.servers import MariaDB, MySQL, Server, ServerUnavailable
from binspark.testing.servers.families import OptionValue
from tests.support.encryption.servers import encrypting_server
from tests.support.replicas import catch_up, replicate

pytestmark = [pytest.mark.timeout(300), pytest.mark.mysql, pytest.mark.mariadb]

MODES = {
    "MySQL": (MySQL, {}),
    "CBC": (MariaDB, {}),
    "CTR": (MariaDB, {"file-key-management-encryption-algorithm": "AES_CTR"}),
}


@pytest.fixture(scope="module", params=MODES)
def encrypting(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Path]]:
    """A server that encrypts, in each way that there is, with logs of some rows, and its keyring."""
    family, options = MODES[request.param]
    try:
        with encrypting_server(family, tmp_path_factory.mktemp("keys"), dict(options)) as (server, keyring):
            server.run_sql("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, a LONGTEXT)")
            for number in range(20):
                server.query(f"INSERT INTO shop.t VALUES ({number}, REPEAT('{number}', {number * number * 100}))")
            server.query("FLUSH BINARY LOGS")
            server.query("UPDATE shop.t SET a = CONCAT(a, 'x')")
            server.query("DELETE FROM shop.t WHERE id > 15")
            yield server, keyring
    except ServerUnavailable as error:
        pytest.skip(str(error))


def read(source: LogSource) -> bytes:
    with source.open() as file:
        return file.read()


def logs(server: Server, keyring: Path) -> list[LogSource]:
    return find_logs([str(log) for log in server.log_files()], keyring_storage(keyring))


def test_decrypted_logs_are_byte_for_byte_what_the_server_sends(
    encrypting: tuple[Server, Path], tmp_path: Path
) -> None:
    server, keyring = encrypting
    for log in logs(server, keyring):
        name = Path(log.name).name
        key_option = ("--get-server-public-key",) if server.family is MySQL else ()
        server.mysqlbinlog(
            name,
            "--read-from-remote-server",
            "--raw",
            f"--result-file={tmp_path}/",
            "--host=127.0.0.1",
            f"--port={server.port}",
            "--user=root",
            *key_option,
        )
        sent, ours = (tmp_path / name).read_bytes(), read(log)
        assert len(sent) == len(ours)
        # MariaDB sends the event that says that the log is encrypted; the flags of the first event change at its end.
        begin = next(
            event.end_offset for event in binspark.events(log) if event.type in ("IGNORABLE", "PREVIOUS_GTIDS")
        )
        assert sent[begin:] == ours[begin:]


def test_rows_are_those_that_were_written_also_in_the_active_log(encrypting: tuple[Server, Path]) -> None:
    server, keyring = encrypting
    changes = list(binspark.rows(logs(server, keyring), tables=["shop.t"]))
    assert [change.op for change in changes] == ["insert"] * 20 + ["update"] * 20 + ["delete"] * 4
    server.query("INSERT INTO shop.t VALUES (100, 'later')")
    later = list(binspark.rows(logs(server, keyring), tables=["shop.t"]))[-1]
    assert later.after is not None
    assert later.after["a"] == "later"
    server.query("DELETE FROM shop.t WHERE id = 100")


@pytest.mark.slow
@pytest.mark.parametrize("encrypting", ["MySQL", "CBC"], indirect=True)
def test_relay_logs_are_read(encrypting: tuple[Server, Path], tmp_path: Path) -> None:
    source, _ = encrypting
    options: dict[str, OptionValue] = {"server-id": 2, "relay-log": "relay", "relay-log-purge": 0}
    with encrypting_server(source.family, tmp_path, options) as (replica, keyring):
        replicate(replica, source)
        catch_up(replica, source)
        relay_logs = sorted(path for path in replica.datadir.glob("relay.0*") if path.stat().st_size)
        storage = keyring_storage(keyring)
        rows = [str(change.op) for change in binspark.rows(find_logs(relay_logs, storage), tables=["shop.t"])]
        assert rows[:20] == ["insert"] * 20
        assert rows.count("update") == 20


@pytest.mark.parametrize("encrypting", ["MySQL"], indirect=True)
def test_logs_are_read_after_the_master_key_was_replaced(encrypting: tuple[Server, Path]) -> None:
    server, keyring = encrypting
    before = [read(log) for log in logs(server, keyring)]
    old = keyring_storage(keyring)
    server.query("ALTER INSTANCE ROTATE BINLOG MASTER KEY")
    after = [read(log) for log in logs(server, keyring)]
    assert [new[200:] for new in after[: len(before) - 1]] == [content[200:] for content in before[:-1]]
    with pytest.raises(binspark.Encrypted, match="_2, which is not in the keyring"):
        read(find_logs([str(server.log_files()[-1])], old)[0])
