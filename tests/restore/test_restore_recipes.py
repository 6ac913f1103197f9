"""The recipes about recovery and comparison, as they are in docs/recipes.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.testing.servers import MySQL, Server
from tests.support.recipes import recipe_commands
from tests.support.replicas import written_gtids
from tests.support.restored import archived, contents, options_of, pair
from tests.support.servers import StartServer

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(180)]


def run(words: list[str], values: dict[str, list[str]]) -> int:
    """Run a command of a recipe with other names for its servers, paths and GTIDs."""
    assert words[0] == "binspark"
    return exit_code([value for word in words[1:] for value in values.get(word, [word])])


def url(server: Server) -> list[str]:
    return [f"mysql://root@127.0.0.1:{server.port}"]


def test_recover_to_a_point_and_prove_it(start_server: StartServer, tmp_path: Path) -> None:
    source, spare = pair(MySQL, start_server)
    source.run_sql("CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY, note TEXT)")
    source.run_sql("INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b'); CREATE TABLE shop.other (id INT PRIMARY KEY)")
    before = contents(source)
    source.run_sql("DROP TABLE shop.orders")
    mistake = written_gtids(source).replace(":1-", ":")
    source.run_sql("INSERT INTO shop.other VALUES (1)")
    archive = archived(source, tmp_path / "archive")
    values = {
        "archive/": [str(archive)],
        "--host": ["--no-defaults", "--host"],
        "spare": options_of(spare)[1:-1],
        "3e11fa47-71ca-11e1-9e33-c80aa9429562:158": [mistake],
        "mysql://db1": url(source),
        "mysql://db2": url(spare),
        "timestamp:2026-11-15T09:00:00": ["earliest"],
    }
    show, apply, rest = recipe_commands("Recover to a point")
    assert run(show, values) == 0
    assert contents(spare) == {}
    assert run(apply, values) == 0
    assert contents(spare) == before
    assert run(rest, values) == 0
    assert spare.query("SELECT note FROM shop.orders") == [("a",), ("b",)]
    assert spare.query("SELECT id FROM shop.other") == [(1,)]

    verify, archive_is_complete, replica_is_complete = recipe_commands("Prove nothing is missing")
    assert [run(words, values) for words in (verify, archive_is_complete)] == [0, 0]
    assert run(replica_is_complete, values) == 1  # the mistake
    compare, compare_since = recipe_commands("Compare two servers")
    assert [run(words, values) for words in (compare, compare_since)] == [1, 1]
    apply_mistake = [*rest[: rest.index("--exclude-gtids")], "--apply"]
    assert run(apply_mistake, values) == 0
    assert run(replica_is_complete, values) == 0
    assert run([*compare, "--ignore-order"], values) == 0
