"""Passwords and their hashes are not shown to people, unless they ask for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import binspark
from binspark.cli.main import exit_code
from binspark.hidden_secrets import hide_in_bytes, hide_secrets, mask_after_secret_word, mask_secrets
from binspark.testing.builder import MARIADB_10_11, MYSQL_9_7, BinlogBuilder, ServerKind
from tests.support.explore.served import serving

HASH = "$A$005$Y}m2zJ4dTrqK8w0xFbPn"
CREATE_USER = f"CREATE USER 'app'@'%' IDENTIFIED WITH 'caching_sha2_password' AS '{HASH}' REQUIRE NONE"
HIDDEN_USER = "CREATE USER 'app'@'%' IDENTIFIED WITH 'caching_sha2_password' AS '***' REQUIRE NONE"
FEDERATED = "CREATE TABLE t (a INT) ENGINE=FEDERATED CONNECTION='mysql://u:hunter2@h/db/t'"


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        (CREATE_USER, HIDDEN_USER),
        ("CREATE USER a IDENTIFIED BY 'x', 'b'@'h' IDENTIFIED BY \"y\"", None),
        ("CREATE USER a IDENTIFIED BY PASSWORD '*2470C0'", "CREATE USER a IDENTIFIED BY PASSWORD '***'"),
        ("alter user a identified with p as 0x244124", "alter user a identified with p as ***"),
        ("CREATE USER a IDENTIFIED VIA ed25519 USING 'x' OR unix_socket", None),
        ("CREATE USER a IDENTIFIED VIA ed25519 USING PASSWORD('x')", None),
        ("ALTER USER a IDENTIFIED BY 'x' REPLACE 'y' RETAIN CURRENT PASSWORD", None),
        ("ALTER USER a IDENTIFIED BY _utf8mb4'x'", "ALTER USER a IDENTIFIED BY _utf8mb4'***'"),
        ("ALTER USER a IDENTIFIED BY X'78'", "ALTER USER a IDENTIFIED BY X'***'"),
        ("SET PASSWORD FOR 'a'@'%' = '*2470C0'", "SET PASSWORD FOR 'a'@'%' = '***'"),
        ("SET PASSWORD = PASSWORD('x')", "SET PASSWORD = PASSWORD('***')"),
        ("GRANT ALL ON *.* TO a IDENTIFIED BY 'x' WITH GRANT OPTION", None),
        ("CHANGE MASTER TO MASTER_USER='r', MASTER_PASSWORD='x'", None),
        ("CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'x'", None),
        ("START REPLICA USER='r' PASSWORD='x'", "START REPLICA USER='r' PASSWORD='***'"),
        ("CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD 'x')", None),
        (FEDERATED, "CREATE TABLE t (a INT) ENGINE=FEDERATED CONNECTION='***'"),
        ("CREATE TABLE t (a INT) COMMENT='host \"h\", password \"x\"'", "CREATE TABLE t (a INT) COMMENT='***'"),
        ("CREATE USER a /*!80000 IDENTIFIED BY 'x' */", "CREATE USER a /*!80000 IDENTIFIED BY '***' */"),
        ("/* it's */ CREATE USER a IDENTIFIED BY 'x' -- or 'y'", "/* it's */ CREATE USER a IDENTIFIED BY '***' ***"),
        ("CREATE USER a IDENTIFIED BY 'it''s' ACCOUNT LOCK", "CREATE USER a IDENTIFIED BY '***''***' ACCOUNT LOCK"),
        ("CREATE USER a IDENTIFIED BY 'cut off", "CREATE USER a IDENTIFIED BY '***"),
        ("CREATE USER a IDENTIFIED BY 'x\\' y' ACCOUNT LOCK", "CREATE USER a ***"),
    ],
)  # fmt: skip
def test_secrets_of_a_statement_are_hidden(statement: str, shown: str | None) -> None:
    hidden = hide_secrets(statement)
    assert hidden == (shown or statement.replace("'x'", "'***'").replace("'y'", "'***'").replace('"y"', '"***"'))
    assert hide_in_bytes(statement.encode()) == hidden.encode()
    assert len(mask_secrets(statement.encode())) == len(statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE users (id INT, password VARBINARY(60) NOT NULL, KEY (id))",
        "CREATE USER 'password_admin'@'%'",
        "INSERT INTO t VALUES ('it''s', 'a\\'b', \"c\")",
        "GRANT SELECT ON shop.* TO 'app'@'%'",
        "ALTER USER 'a'@'h' PASSWORD EXPIRE INTERVAL 90 DAY",
    ],
)
def test_other_statements_are_shown_as_they_are(statement: str) -> None:
    assert hide_secrets(statement) == statement


TEXT = st.text("ab '\"\\`#-/*!@,()", max_size=12)


@given(before=TEXT, secret=st.text("xyz'\\\"", min_size=1, max_size=8), after=TEXT, escapes=st.booleans())
def test_no_text_around_it_uncovers_a_secret(before: str, secret: str, after: str, escapes: bool) -> None:
    written = secret.replace("\\", "\\\\") if escapes else secret
    prefix = f"/* {before.replace('*/', '')} */ CREATE USER `{before.replace('`', '')}` IDENTIFIED BY "
    literal = "'" + written.replace("'", "''") + "'"
    assert not set("xyz") & set(hide_secrets(f"{prefix}{literal} {after}"))


def test_bytes_that_cannot_be_decoded_are_masked_from_the_first_such_word_on() -> None:
    assert mask_after_secret_word(b"\0\1 IDENTIFIED BY 'x'") == b"\0\1 *****************"
    assert mask_after_secret_word(b"\0\1 'x'") == b"\0\1 'x'"


# --- Commands ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[MYSQL_9_7, MARIADB_10_11], ids=["mysql", "mariadb"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    server: ServerKind = request.param
    builder = BinlogBuilder(server)
    builder.ddl(CREATE_USER, "shop")
    builder.ddl(FEDERATED, "shop")
    [path] = builder.save(tmp_path)
    return str(path)


COMMANDS = [["events"], ["transactions"], ["stat"], ["stat", "--format", "jsonl"], ["report", "--format", "json"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_for_people_show_secrets_only_if_asked(
    command: list[str], log: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert exit_code([*command, log]) == 0
    hidden = capsys.readouterr().out
    assert exit_code([*command, log, "--show-secrets"]) == 0
    shown = capsys.readouterr().out
    assert "$A$005$" not in hidden
    assert "hunter2" not in hidden
    assert HIDDEN_USER[:60] in hidden
    assert "$A$005$" in shown
    assert hidden.replace("***", "") != shown


@pytest.mark.parametrize(
    "command", [["events", "--format", "jsonl"], ["transactions", "--format", "jsonl"]], ids=" ".join
)
def test_machines_get_exact_values(command: list[str], log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code([*command, log]) == 0
    assert json.dumps(CREATE_USER) in capsys.readouterr().out


@pytest.mark.parametrize("command", ["sql", "dump"])
def test_scripts_can_be_executed(command: str, log: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert exit_code([command, log]) == 0
    assert CREATE_USER.encode() in capfdbinary.readouterr().out


def test_a_page_of_a_report_shows_secrets_only_if_asked(log: str, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert exit_code(["report", log, "-o", str(page)]) == 0
    assert "$A$005$" not in page.read_text()
    assert "hunter2" not in page.read_text()
    assert "CREATE USER" in page.read_text()
    assert exit_code(["report", log, "-o", str(page), "--show-secrets"]) == 0
    assert "$A$005$" in page.read_text()


def test_a_difference_shows_secrets_only_if_asked(log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = BinlogBuilder()
    other.ddl("CREATE TABLE t (a INT)", "shop")
    (tmp_path / "other").mkdir()
    [path] = other.save(tmp_path / "other")
    assert exit_code(["diff", log, str(path)]) == 1
    assert "$A$005$" not in capsys.readouterr().out
    assert exit_code(["diff", log, str(path), "--show-secrets"]) == 1
    assert "$A$005$" in capsys.readouterr().out


def test_a_statement_that_cannot_be_undone_is_named_without_secrets(
    log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(["sql", "--undo", log]) == 1
    assert "$A$005$" not in capsys.readouterr().err


def test_notebooks_show_no_secrets(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.ddl("SET PASSWORD = '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'")
    [log] = builder.save(tmp_path)
    shown = "".join(event._repr_html_() for event in binspark.events(log))
    assert b"SET PASSWORD = '***'".hex(" ") in shown
    assert b"2470C0".hex(" ") not in shown


def questions(log: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield what a page asks about statements."""
    yield "units", {"first": 0, "count": 10}
    for text in ("create", "user", "identified", "require", "engine"):
        yield "search", {"kind": "text", "text": text}
    for event in binspark.events(log):
        yield "events", {"log": 0, "pos": event.offset}
        yield "event", {"log": 0, "pos": event.offset}


@pytest.mark.parametrize("show_secrets", [False, True])
def test_the_page_in_the_browser_shows_secrets_only_if_asked(log: str, show_secrets: bool) -> None:
    with serving(Path(log), show_secrets=show_secrets) as served:
        answers = [json.dumps(served.ask(name, **parameters)) for name, parameters in questions(log)]
        found = served.ask("search", kind="text", text="$A$005$")["hits"]
    secrets = ("$A$005$", b"$A$005$".hex(), "hunter2", b"hunter2".hex())
    assert [any(secret in answer for answer in answers) for secret in secrets] == [show_secrets] * len(secrets)
    assert bool(found) == show_secrets
