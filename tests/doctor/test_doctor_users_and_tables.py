"""The doctor on real servers: what users may do and see, and which tables are reported."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from binspark.doctor.read_profile import read_profile
from binspark.testing.servers import Server
from tests.support.doctor.servers import apply_fixes, connected, findings

SECRET = "correct horse"


@pytest.fixture(params=["mysql", "mariadb"])
def shared(request: pytest.FixtureRequest) -> Server:
    server: Server = request.getfixturevalue(request.param)
    return server


@pytest.fixture
def database(shared: Server) -> Iterator[str]:
    shared.run_sql("CREATE DATABASE doctor")
    yield "doctor"
    shared.run_sql("DROP DATABASE doctor")


@pytest.fixture
def user(shared: Server) -> Iterator[str]:
    shared.run_sql(f"CREATE USER doctor IDENTIFIED BY '{SECRET}'")
    yield "doctor"
    shared.run_sql("DROP USER doctor")


def test_missing_privileges_are_granted_by_the_fixes(shared: Server, user: str) -> None:
    found = findings(shared, user, SECRET)
    missing = {code: found[code] for code in ("replication-slave", "replication-client", "select")}
    apply_fixes(shared, missing)
    assert not set(missing) & set(findings(shared, user, SECRET))


def test_a_user_without_privileges_still_sees_the_settings(shared: Server, user: str) -> None:
    assert "sync-binlog" in findings(shared, user, SECRET)


def test_a_role_counts_when_it_is_active(shared: Server, user: str) -> None:
    shared.run_sql(f"CREATE ROLE doctors; GRANT REPLICATION SLAVE ON *.* TO doctors; GRANT doctors TO {user}")
    found = findings(shared, user, SECRET)
    shared.run_sql(found["roles"].fix)
    later = findings(shared, user, SECRET)
    shared.run_sql("DROP ROLE doctors")
    assert {"roles", "replication-slave"} <= set(found)
    assert not {"roles", "replication-slave"} & set(later)


def test_a_user_sees_only_tables_that_it_has_a_privilege_on(shared: Server, user: str, database: str) -> None:
    shared.run_sql(f"CREATE TABLE {database}.a (x INT); CREATE TABLE {database}.b (x INT)")
    shared.run_sql(f"GRANT SELECT ON {database}.b TO {user}")
    found = findings(shared, user, SECRET)
    assert found["no-key"].value == "missing in 1 table: doctor.b"
    assert "select" in found


@pytest.mark.parametrize(
    ("definition", "has_no_key"),
    [
        ("x INT PRIMARY KEY", False),
        ("x INT NOT NULL, UNIQUE KEY (x)", False),
        ("x INT NOT NULL, y INT NOT NULL, UNIQUE KEY (x, y)", False),
        ("x INT NOT NULL, y INT, UNIQUE KEY (x, y)", True),
        ("x VARCHAR(100) NOT NULL, UNIQUE KEY (x(10))", True),
        ("x VARCHAR(100), PRIMARY KEY (x(10))", False),
        ("x INT NOT NULL, KEY (x)", True),
    ],
)
def test_a_key_is_what_identifies_a_row(shared: Server, database: str, definition: str, has_no_key: bool) -> None:
    shared.run_sql(f"CREATE TABLE {database}.t ({definition})")
    with connected(shared) as connection:
        tables = read_profile(connection).tables
    assert tables is not None
    assert (("doctor", "t") in tables.without_key) is has_no_key


def test_views_and_sequences_need_no_key(mariadb: Server) -> None:
    mariadb.run_sql("CREATE DATABASE doctor; CREATE VIEW doctor.v AS SELECT 1 AS x; CREATE SEQUENCE doctor.s")
    with connected(mariadb) as connection:
        tables = read_profile(connection).tables
    mariadb.run_sql("DROP DATABASE doctor")
    assert tables is not None
    assert not [name for name in tables.without_key if name.schema == "doctor"]


def test_tables_are_not_checked_if_not_requested(shared: Server) -> None:
    with connected(shared) as connection:
        assert read_profile(connection, check_tables=False).tables is None


def test_a_replica_is_known_by_what_it_has_applied_where_the_user_lacks_the_privilege(mariadb: Server) -> None:
    mariadb.run_sql(f"CREATE USER doctor IDENTIFIED BY '{SECRET}'; SET GLOBAL gtid_slave_pos = '7-7-7'")
    with connected(mariadb, "doctor", SECRET) as connection:
        is_replica = read_profile(connection).is_replica
    mariadb.run_sql("DROP USER doctor; SET GLOBAL gtid_slave_pos = ''")
    assert is_replica


def test_foreign_keys_that_cascade_are_seen_with_the_privileges_of_a_mirror(
    mariadb: Server, request: pytest.FixtureRequest
) -> None:
    mariadb.run_sql(
        "CREATE DATABASE cascading; USE cascading; CREATE TABLE parent (id INT PRIMARY KEY);"
        "CREATE TABLE child (id INT REFERENCES parent (id) ON DELETE SET NULL);"
        "CREATE TABLE other (id INT REFERENCES parent (id) ON DELETE RESTRICT);"
        f"CREATE USER reader IDENTIFIED BY '{SECRET}';"
        "GRANT SELECT, RELOAD, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO reader"
    )
    request.addfinalizer(lambda: mariadb.run_sql("DROP USER reader; DROP DATABASE cascading"))
    with connected(mariadb, "reader", SECRET) as connection:
        tables = read_profile(connection).tables
    assert tables is not None
    assert [str(name) for name in tables.cascading if name.schema == "cascading"] == ["cascading.child"]
