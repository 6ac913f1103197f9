"""The recipes with rows and scripts, as they are in docs/recipes.md."""

from __future__ import annotations

import pytest

from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from binspark.testing.servers import Server
from tests.support.recipes import recipe_commands
from tests.support.servers import database
from tests.support.sql.round_trips import run_script, tables_of

__all__ = ["database"]


def printed(capfd: pytest.CaptureFixture[str], words: list[str]) -> str:
    """Run a command on the logs of the shop and return what it prints."""
    assert words[0] == "binspark"
    assert exit_code([f"{SHOP}/mysql/" if word == "logs/" else word for word in words[1:]]) == 0
    return capfd.readouterr().out


def test_who_deleted_it(capfd: pytest.CaptureFixture[str]) -> None:
    commands = recipe_commands("Who deleted it?")
    deleted, transaction, connection, at_that_time, life = (printed(capfd, words) for words in commands)
    assert "DELETE FROM orders" in deleted
    assert deleted.count("shop.orders") == 1
    assert "4efb89a3-e0d3-11f1-9fc1-02fc00000001:158" in transaction
    assert connection.count("delete  shop.orders") == 150
    assert [line.split()[4] for line in at_that_time.splitlines()] == ["4efb89a3-e0d3-11f1-9fc1-02fc00000001:158"]
    assert [life.count(f"  {op} ") for op in ("insert", "update", "delete")] == [1, 1, 1]


def test_undo_a_mistake(capfd: pytest.CaptureFixture[str]) -> None:
    everything, merged, some = (printed(capfd, words) for words in recipe_commands("Undo a mistake")[:3])
    assert everything.count("INSERT INTO `shop`.`orders`") == 150
    assert merged == everything
    assert 0 < some.count("INSERT INTO `shop`.`orders`") < 150


@pytest.mark.mysql
def test_undo_a_mistake_on_a_server(mysql: Server, database: str, capfd: pytest.CaptureFixture[str]) -> None:
    mysql.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {database}.orders (id INT PRIMARY KEY, note TEXT);"
        f"INSERT INTO {database}.orders VALUES (1, 'a'), (2, NULL);"
    )
    before = tables_of(mysql, database)
    file, offset = mysql.query("SHOW BINARY LOG STATUS")[0][:2]
    mysql.query(f"DELETE FROM {database}.orders")
    words, apply = recipe_commands("Undo a mistake")[3:]
    values = {"db1": "127.0.0.1", "shop.orders": f"{database}.orders", "--host": "--host"}
    command = [values.get(word, word) for word in words[: words.index(">")]]
    command[command.index("--start") + 1] = f"{file}:{offset}"
    undo = printed(capfd, [*command, "--port", str(mysql.port), "--user", "root"])
    assert apply[0] == "mysql"
    run_script(mysql, undo.encode())
    assert tables_of(mysql, database) == before
