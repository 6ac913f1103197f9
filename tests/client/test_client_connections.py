"""Connecting to real servers: logins, TLS, sockets, several hosts, and what a server says of itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from binspark.client.connect import connect
from binspark.client.facts import server_facts
from binspark.errors import Authentication, BinlogError, ConnectionLost, OptionError, Server
from binspark.frames import Family as LogFamily
from binspark.gtid import GtidSet, MariadbPosition
from binspark.testing.servers import Family, MariaDB, MySQL
from binspark.testing.servers import Server as RunningServer
from tests.support.client.client_help import StartServer, every_family, options_of
from tests.support.tcp_proxy import proxied

pytestmark = pytest.mark.timeout(120)

SECRET = "c0rrect-hörse"


def current_user(**arguments: Any) -> str:
    with connect(options_of(arguments.pop("port"), **arguments)) as connection:
        return str(connection.rows("SELECT CURRENT_USER()")[0][0])


def tls_version(**arguments: Any) -> str:
    with connect(options_of(arguments.pop("port"), **arguments)) as connection:
        return str(connection.rows("SHOW STATUS LIKE 'Ssl_version'")[0][1])


@pytest.mark.mysql
@pytest.mark.parametrize("tls_mode", ["preferred", "disabled"])
def test_a_password_of_mysqls_own_kind_opens(mysql: RunningServer, tls_mode: str) -> None:
    user = f"sha2_{tls_mode}"
    mysql.query(f"CREATE USER {user} IDENTIFIED WITH caching_sha2_password BY '{SECRET}'")
    for _ in range(2):  # the first login takes the long way, the second the server's cache
        assert current_user(port=mysql.port, user=user, password=SECRET, tls_mode=tls_mode) == f"{user}@%"


@pytest.mark.mariadb
def test_a_password_of_the_old_kind_opens(mariadb: RunningServer) -> None:
    mariadb.query(f"CREATE USER native IDENTIFIED VIA mysql_native_password USING PASSWORD('{SECRET}')")
    assert current_user(port=mariadb.port, user="native", password=SECRET) == "native@%"


@pytest.mark.mariadb
def test_a_login_that_needs_another_library_names_it(mariadb: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nacl", None)
    mariadb.query("INSTALL SONAME 'auth_ed25519'")
    mariadb.query("CREATE USER signer IDENTIFIED VIA ed25519 USING PASSWORD('secret')")
    with pytest.raises(Authentication, match="pynacl"):
        connect(options_of(mariadb.port, user="signer", password="secret"))


@every_family
def test_a_wrong_password_is_refused_and_not_repeated(family: Family, shared: RunningServer) -> None:
    with pytest.raises(Authentication, match="check user and password") as caught:
        connect(options_of(shared.port, password=SECRET))
    assert SECRET not in repr(caught.value)


@every_family
def test_the_socket_of_this_machine_is_an_address(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    with connect(options_of(hosts=None, socket=str(server.socket))) as connection:
        assert connection.rows("SELECT 1") == [(1,)]
        assert str(connection.address) == str(server.socket)


@pytest.mark.mysql
@pytest.mark.parametrize(("tls_mode", "encrypted"), [("disabled", False), ("preferred", True), ("required", True)])
def test_a_connection_is_encrypted_as_asked_for(mysql: RunningServer, tls_mode: str, encrypted: bool) -> None:
    assert bool(tls_version(port=mysql.port, tls_mode=tls_mode)) is encrypted


@pytest.mark.mysql
def test_a_certificate_of_the_known_authority_is_accepted(mysql: RunningServer) -> None:
    assert tls_version(port=mysql.port, tls_ca=str(mysql.datadir / "ca.pem"))


@pytest.mark.mysql
@pytest.mark.parametrize("arguments", [{"tls_mode": "verify_ca"}, {"tls_mode": "verify_identity", "tls_ca": "ca.pem"}])
def test_a_certificate_that_proves_nothing_is_refused(mysql: RunningServer, arguments: dict[str, str]) -> None:
    """MySQL's own certificate names no host, and no authority that this machine knows has signed it."""
    paths = {name: str(mysql.datadir / value) for name, value in arguments.items() if name == "tls_ca"}
    with pytest.raises(Authentication, match="no TLS with this server"):
        connect(options_of(mysql.port, **{**arguments, **paths}))


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """A folder with an authority, and a certificate of it for 127.0.0.1."""
    commands = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca-key.pem -out ca.pem",
        "req -newkey rsa:2048 -nodes -subj /CN=server -keyout key.pem -out request.pem",
        "x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile names -out cert.pem",
    )
    (tmp_path / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for command in commands:
        subprocess.run(["openssl", *command.split()], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


@every_family
def test_a_certificate_that_names_the_host_proves_who_the_server_is(
    family: Family, start_server: StartServer, certificates: Path
) -> None:
    files = {"ssl-ca": "ca.pem", "ssl-cert": "cert.pem", "ssl-key": "key.pem"}
    server = start_server(family, {name: str(certificates / file) for name, file in files.items()})
    verified = {"tls_mode": "verify_identity", "tls_ca": str(certificates / "ca.pem")}
    assert tls_version(port=server.port, **verified)
    with pytest.raises(Authentication, match="no TLS"):
        connect(options_of(hosts=f"localhost:{server.port}", **verified))


@every_family
def test_a_user_may_have_to_show_a_certificate(family: Family, start_server: StartServer, certificates: Path) -> None:
    files = {"ssl-ca": "ca.pem", "ssl-cert": "cert.pem", "ssl-key": "key.pem"}
    server = start_server(family, {name: str(certificates / file) for name, file in files.items()})
    server.query("CREATE USER shown REQUIRE X509")
    own = {"tls_cert": str(certificates / "cert.pem"), "tls_key": str(certificates / "key.pem")}
    assert current_user(port=server.port, user="shown", **own) == "shown@%"
    with pytest.raises(Authentication):
        connect(options_of(server.port, user="shown"))


@pytest.mark.mariadb
def test_a_server_without_tls_is_refused_where_it_is_required(start_server: StartServer) -> None:
    server = start_server(MariaDB, {"skip-ssl": None})
    with pytest.raises(Authentication, match="does not speak TLS"):
        connect(options_of(server.port, tls_mode="required"))


def test_a_missing_file_for_tls_is_an_option_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"nothing\.pem"):
        connect(options_of(1, tls_ca=str(tmp_path / "nothing.pem")))


@pytest.mark.mysql
def test_the_first_host_that_answers_is_taken(mysql: RunningServer) -> None:
    with connect(options_of(1, mysql.port)) as connection:
        assert connection.address.port == mysql.port


def test_where_no_host_answers_each_is_named() -> None:
    with pytest.raises(ConnectionLost, match=r"127\.0\.0\.1:1.*127\.0\.0\.1:2"):
        connect(options_of(1, 2))


@pytest.mark.mysql
def test_a_server_that_accepts_and_says_nothing_is_given_up(mysql: RunningServer) -> None:
    with proxied(mysql.port) as proxy:
        proxy.stall()
        with pytest.raises(ConnectionLost):
            connect(options_of(proxy.port, connect_seconds=0.3))


@pytest.mark.mysql
def test_a_server_that_asks_for_a_file_does_not_get_it(mysql: RunningServer, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.write_text("nobody's business")
    request = b"\xfb" + str(private).encode()
    with proxied(mysql.port) as proxy, connect(options_of(proxy.port, tls_mode="disabled")) as connection:
        proxy.replies.append(len(request).to_bytes(3, "little") + b"\x01" + request)
        with pytest.raises(Server, match="asks for a file"):
            connection.rows("SELECT 1")
    assert b"nobody" not in bytes(proxy.sent)


@pytest.mark.mysql
def test_a_server_that_asks_for_the_password_in_clear_text_does_not_get_it(mysql: RunningServer) -> None:
    request = b"\xfemysql_clear_password\0"
    with proxied(mysql.port) as proxy:
        proxy.replies += [None, len(request).to_bytes(3, "little") + b"\x02" + request]
        with pytest.raises(Authentication, match="in clear text, and the connection is not encrypted"):
            connect(options_of(proxy.port, tls_mode="disabled", password="open-sesame"))
    assert b"sesame" not in bytes(proxy.sent)


@every_family
def test_a_statement_that_sends_a_file_is_refused_by_the_server(
    family: Family, shared: RunningServer, tmp_path: Path
) -> None:
    with connect(options_of(shared.port)) as connection, pytest.raises(BinlogError):
        connection.rows("LOAD DATA LOCAL INFILE %s INTO TABLE mysql.user", (str(tmp_path / "x"),))


@pytest.mark.mysql
def test_mysql_says_what_it_is_and_has(start_server: StartServer) -> None:
    server = start_server(MySQL, {"binlog-row-image": "MINIMAL", "server-id": 7})
    server.run_sql("CREATE DATABASE d; FLUSH LOGS; CREATE DATABASE e; FLUSH LOGS")
    server.query("PURGE BINARY LOGS TO 'binlog.000002'")
    uuid = server.query("SELECT @@server_uuid")[0][0]
    with connect(options_of(server.port)) as connection:
        facts = server_facts(connection)
    assert facts.version.startswith(server.version)
    assert (facts.family, facts.server_id, facts.server_uuid) == (LogFamily.MYSQL, 7, uuid)
    assert [log.name for log in facts.logs] == ["binlog.000002", "binlog.000003"]
    assert [log.size for log in facts.logs] == [path.stat().st_size for path in server.log_files()]
    assert facts.end is not None
    assert (facts.end.file, facts.end.offset, facts.end.gtids) == (
        "binlog.000003", facts.logs[-1].size, GtidSet(f"{uuid}:1-2"),
    )  # fmt: skip
    assert facts.gtids_purged == GtidSet(f"{uuid}:1")
    assert facts.gtids_enabled
    assert (facts.binlog_format, facts.row_image, facts.checksum) == ("ROW", "MINIMAL", "CRC32")


@pytest.mark.mariadb
def test_mariadb_says_what_it_is_and_has(start_server: StartServer) -> None:
    server = start_server(MariaDB, {"server-id": 7, "binlog-format": "MIXED", "binlog-checksum": "NONE"})
    server.run_sql("CREATE DATABASE d; SET gtid_domain_id=3; CREATE DATABASE e")
    with connect(options_of(server.port)) as connection:
        facts = server_facts(connection)
    assert facts.version.startswith(server.version)
    assert (facts.family, facts.server_id, len(facts.server_uuid)) == (LogFamily.MARIADB, 7, 28)
    assert facts.end is not None
    assert facts.end.gtids == MariadbPosition("0-7-1,3-7-1")
    assert (facts.binlog_format, facts.row_metadata, facts.checksum) == ("MIXED", "NO_LOG", "NONE")


@every_family
def test_a_server_without_a_log_says_so(family: Family, start_server: StartServer) -> None:
    server = start_server(family, {"skip-log-bin": None})
    with connect(options_of(server.port)) as connection:
        facts = server_facts(connection)
    assert (facts.log_bin, facts.logs, facts.end) == (False, (), None)
