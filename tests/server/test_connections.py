"""Connecting to real servers: logins, TLS, sockets, several hosts, and what a server reports of itself."""

from __future__ import annotations

import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from binspark.errors import Authentication, BinlogError, ConnectionLost, OptionError, Server
from binspark.frames import Family as LogFamily
from binspark.gtid import GtidSet, MariadbPosition, MariadbState
from binspark.server.connection import connect
from binspark.server.info import (
    mariadb_gtid_state,
    mariadb_gtids,
    mariadb_gtids_at,
    mysql_log_status,
    purged_gtids,
    server_info,
    server_logs,
    server_variables,
    write_coordinates,
)
from binspark.testing.servers import Family, MariaDB, MySQL, SqlFailed
from binspark.testing.servers import Server as RunningServer
from tests.support.servers import StartServer, config_of, every_family
from tests.support.tcp_proxy import proxied

pytestmark = pytest.mark.timeout(120)

SECRET = "c0rrect-hörse"


def current_user(**arguments: Any) -> str:
    with connect(config_of(arguments.pop("port"), **arguments)) as connection:
        return str(connection.rows("SELECT CURRENT_USER()")[0][0])


def tls_version(**arguments: Any) -> str:
    with connect(config_of(arguments.pop("port"), **arguments)) as connection:
        return str(connection.rows("SHOW STATUS LIKE 'Ssl_version'")[0][1])


def create_user(server: RunningServer, plugin: str) -> str:
    user = f"user_{secrets.token_hex(4)}"
    server.query(f"CREATE USER {user} IDENTIFIED WITH {plugin} BY '{SECRET}'")
    return user


@pytest.mark.mysql
@pytest.mark.parametrize("plugin", ["caching_sha2_password", "sha256_password"])
@pytest.mark.parametrize("arguments", [{}, {"ssl_mode": "disabled", "get_server_public_key": True}, {"key": "file"}])
def test_a_password_of_mysqls_own_kind_opens(mysql: RunningServer, plugin: str, arguments: dict[str, Any]) -> None:
    user = create_user(mysql, plugin)
    key = {"ssl_mode": "disabled", "server_public_key_path": str(mysql.datadir / "public_key.pem")}
    chosen = key if "key" in arguments else arguments
    for _ in range(2):  # the first login takes the long way, the second the server's cache
        assert current_user(port=mysql.port, user=user, password=SECRET, **chosen) == f"{user}@%"


@pytest.mark.mysql
def test_without_tls_a_password_opens_once_the_server_has_it_in_its_cache(mysql: RunningServer) -> None:
    """As with MySQL's own client: error 2061 before, and no need of the password after."""
    user = create_user(mysql, "caching_sha2_password")
    plain = {"port": mysql.port, "user": user, "password": SECRET, "ssl_mode": "disabled"}
    client = (
        "--ssl-mode=DISABLED",
        "--host=127.0.0.1",
        f"--port={mysql.port}",
        f"--user={user}",
        f"--password={SECRET}",
    )
    with pytest.raises(Authentication, match="error 2061"):
        current_user(**plain)
    with pytest.raises(SqlFailed, match="2061"):
        mysql.run_sql("SELECT 1", *client)
    assert current_user(port=mysql.port, user=user, password=SECRET) == f"{user}@%"
    assert current_user(**plain) == f"{user}@%"
    mysql.run_sql("SELECT 1", *client)


@pytest.mark.mysql
@pytest.mark.parametrize("ssl_mode", ["preferred", "disabled"])
def test_a_socket_is_secure_as_it_is(mysql: RunningServer, ssl_mode: str) -> None:
    user = create_user(mysql, "caching_sha2_password")
    config = config_of(host=None, socket=str(mysql.socket), user=user, password=SECRET, ssl_mode=ssl_mode)
    with connect(config) as connection:
        assert connection.account == f"`{user}`@`%`"


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
        connect(config_of(mariadb.port, user="signer", password="secret"))


@every_family
def test_a_wrong_password_is_refused_and_not_repeated(family: Family, shared: RunningServer) -> None:
    with pytest.raises(Authentication, match="check user and password") as caught:
        connect(config_of(shared.port, password=SECRET))
    assert SECRET not in repr(caught.value)


@every_family
def test_the_socket_of_this_machine_is_an_address(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    with connect(config_of(host=None, socket=str(server.socket))) as connection:
        assert connection.rows("SELECT 1") == [(1,)]
        assert str(connection.address) == str(server.socket)


@pytest.mark.mysql
@pytest.mark.parametrize(("ssl_mode", "encrypted"), [("disabled", False), ("preferred", True), ("required", True)])
def test_a_connection_is_encrypted_as_configured(mysql: RunningServer, ssl_mode: str, encrypted: bool) -> None:
    assert bool(tls_version(port=mysql.port, ssl_mode=ssl_mode)) is encrypted


@pytest.mark.mysql
def test_a_certificate_of_the_known_authority_is_accepted(mysql: RunningServer) -> None:
    assert tls_version(port=mysql.port, ssl_ca=str(mysql.datadir / "ca.pem"))


@pytest.mark.mysql
@pytest.mark.parametrize("arguments", [{"ssl_mode": "verify_ca"}, {"ssl_mode": "verify_identity", "ssl_ca": "ca.pem"}])
def test_a_certificate_that_proves_nothing_is_refused(mysql: RunningServer, arguments: dict[str, str]) -> None:
    """MySQL's own certificate names no host, and no authority that this machine knows has signed it."""
    paths = {name: str(mysql.datadir / value) for name, value in arguments.items() if name == "ssl_ca"}
    with pytest.raises(Authentication, match="TLS with this server failed"):
        connect(config_of(mysql.port, **{**arguments, **paths}))


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
    verified = {"ssl_mode": "verify_identity", "ssl_ca": str(certificates / "ca.pem")}
    assert tls_version(port=server.port, **verified)
    with pytest.raises(Authentication, match="TLS with this server failed"):
        connect(config_of(host=f"localhost:{server.port}", **verified))


@every_family
def test_a_user_may_have_to_show_a_certificate(family: Family, start_server: StartServer, certificates: Path) -> None:
    files = {"ssl-ca": "ca.pem", "ssl-cert": "cert.pem", "ssl-key": "key.pem"}
    server = start_server(family, {name: str(certificates / file) for name, file in files.items()})
    server.query("CREATE USER shown REQUIRE X509")
    own = {"ssl_cert": str(certificates / "cert.pem"), "ssl_key": str(certificates / "key.pem")}
    assert current_user(port=server.port, user="shown", **own) == "shown@%"
    with pytest.raises(Authentication):
        connect(config_of(server.port, user="shown"))


@pytest.mark.mariadb
def test_a_server_without_tls_is_refused_where_it_is_required(start_server: StartServer) -> None:
    server = start_server(MariaDB, {"skip-ssl": None})
    with pytest.raises(Authentication, match="does not support TLS"):
        connect(config_of(server.port, ssl_mode="required"))


def test_a_missing_file_for_tls_is_an_option_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"nothing\.pem"):
        connect(config_of(1, ssl_ca=str(tmp_path / "nothing.pem")))


@pytest.mark.mysql
def test_the_first_host_that_answers_is_taken(mysql: RunningServer) -> None:
    with connect(config_of(1, mysql.port)) as connection:
        assert connection.address.port == mysql.port


def test_where_no_host_answers_each_is_named() -> None:
    with pytest.raises(ConnectionLost, match=r"127\.0\.0\.1:1.*127\.0\.0\.1:2"):
        connect(config_of(1, 2))


@pytest.mark.mysql
def test_a_server_that_accepts_and_says_nothing_is_given_up(mysql: RunningServer) -> None:
    with proxied(mysql.port) as proxy:
        proxy.stall()
        with pytest.raises(ConnectionLost):
            connect(config_of(proxy.port, connect_timeout=0.3))


@pytest.mark.mysql
def test_a_server_that_requests_a_file_does_not_get_it(mysql: RunningServer, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.write_text("nobody's business")
    request = b"\xfb" + str(private).encode()
    with proxied(mysql.port) as proxy, connect(config_of(proxy.port, ssl_mode="disabled")) as connection:
        proxy.replies.append(len(request).to_bytes(3, "little") + b"\x01" + request)
        with pytest.raises(Server, match="requests a file"):
            connection.rows("SELECT 1")
    assert b"nobody" not in bytes(proxy.sent)


@every_family
def test_a_statement_that_sends_a_file_is_refused_by_the_server(
    family: Family, shared: RunningServer, tmp_path: Path
) -> None:
    with connect(config_of(shared.port)) as connection, pytest.raises(BinlogError):
        connection.rows("LOAD DATA LOCAL INFILE %s INTO TABLE mysql.user", (str(tmp_path / "x"),))


@pytest.mark.mysql
def test_mysql_reports_which_server_it_is_and_its_logs(start_server: StartServer) -> None:
    server = start_server(MySQL, {"server-id": 7})
    server.run_sql("CREATE DATABASE d; FLUSH LOGS; CREATE DATABASE e; FLUSH LOGS")
    server.query("PURGE BINARY LOGS TO 'binlog.000002'")
    uuid = server.query("SELECT @@server_uuid")[0][0]
    with connect(config_of(server.port)) as connection:
        info, logs = server_info(connection), server_logs(connection)
        assert mysql_log_status(connection) == ("binlog.000003", logs[-1].size, GtidSet(f"{uuid}:1-2"))
        assert write_coordinates(connection) == ("binlog.000003", logs[-1].size)
        assert purged_gtids(connection) == GtidSet(f"{uuid}:1")
        assert server_variables(connection)["server_uuid"] == uuid
    assert info.version.startswith(server.version)
    assert (info.family, info.server_id, info.uuid, info.gtids_enabled) == (LogFamily.MYSQL, 7, uuid, True)
    assert [log.name for log in logs] == ["binlog.000002", "binlog.000003"]
    assert [log.size for log in logs] == [path.stat().st_size for path in server.log_files()]


@pytest.mark.mariadb
def test_mariadb_reports_which_server_it_is_and_its_gtids(start_server: StartServer) -> None:
    server = start_server(MariaDB, {"server-id": 7})
    server.run_sql("CREATE DATABASE d; SET gtid_domain_id=3; CREATE DATABASE e")
    with connect(config_of(server.port)) as connection:
        info = server_info(connection)
        assert mariadb_gtids(connection) == MariadbPosition("0-7-1,3-7-1")
        assert mariadb_gtid_state(connection) == MariadbState("0-7-1,3-7-1")
        assert mariadb_gtids_at(connection, *write_coordinates(connection)) == MariadbPosition("0-7-1,3-7-1")
        assert purged_gtids(connection) == GtidSet()
        with pytest.raises(Server, match=r"no GTID position for nothing\.000001:4"):
            mariadb_gtids_at(connection, "nothing.000001", 4)
    assert info.version.startswith(server.version)
    assert (info.family, info.server_id, len(info.uuid), info.gtids_enabled) == (LogFamily.MARIADB, 7, 28, True)


@every_family
def test_a_server_without_a_log_says_so(family: Family, start_server: StartServer) -> None:
    server = start_server(family, {"skip-log-bin": None})
    with connect(config_of(server.port)) as connection, pytest.raises(Server, match="start it with log_bin"):
        write_coordinates(connection)


@pytest.mark.mysql
def test_a_closed_connection_has_no_socket(mysql: RunningServer) -> None:
    with connect(config_of(mysql.port)) as connection:
        assert connection.socket.fileno() >= 0
    with pytest.raises(ConnectionLost, match="closed"):
        connection.socket  # noqa: B018
