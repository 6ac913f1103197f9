"""What SHOW GRANTS says, in the words of the servers."""

from __future__ import annotations

import pytest

from binspark.doctor.server_profile import Grants, parse_grants

HASH = "*B69027D44F6E5EDC07F1AEAD1477967B16F28227"


def test_privileges_on_everything_count_and_those_on_a_database_do_not() -> None:
    grants = parse_grants(
        [
            "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO `repl`@`%`",
            "GRANT BACKUP_ADMIN,BINLOG_ADMIN ON *.* TO `repl`@`%` WITH GRANT OPTION",
            "GRANT SELECT ON `shop`.* TO `repl`@`%`",
        ]
    )
    assert grants.privileges == {"REPLICATION SLAVE", "REPLICATION CLIENT", "BACKUP_ADMIN", "BINLOG_ADMIN"}


def test_the_hash_of_a_password_is_not_kept() -> None:
    lines = [f"GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO `repl`@`%` IDENTIFIED BY PASSWORD '{HASH}'"]
    grants = parse_grants(lines)
    assert grants.any_of("BINLOG MONITOR")
    assert HASH not in repr(grants)


@pytest.mark.parametrize(
    ("line", "roles"),
    [
        ("GRANT `r1`@`%`,`r2`@`localhost` TO `rol`@`%`", ("`r1`@`%`", "`r2`@`localhost`")),
        ("GRANT `r1` TO `rol`@`%`", ("`r1`",)),
        ("GRANT `r1` TO `rol`@`%` WITH ADMIN OPTION", ("`r1`",)),
        ("GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION", ()),
        ("SET DEFAULT ROLE `r1` FOR `roldef`@`%`", ()),
        ("REVOKE SELECT ON `mysql`.* FROM `u`@`%`", ()),
    ],
)
def test_roles_are_distinguished_from_privileges(line: str, roles: tuple[str, ...]) -> None:
    assert parse_grants([line]) == Grants(frozenset(), roles)


def test_all_privileges_are_any_privilege() -> None:
    assert parse_grants(["GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost`"]).any_of("REPLICATION SLAVE")


def test_usage_is_not_a_required_privilege() -> None:
    assert not parse_grants(["GRANT USAGE ON *.* TO `plain`@`%`"]).any_of("REPLICATION SLAVE", "SUPER")
