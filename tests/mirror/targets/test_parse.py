"""What users write as a target, and what is said if it cannot be used."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable
from hypothesis import example, given
from hypothesis import strategies as st

from binspark.errors import OptionError, SourceError
from binspark.files import Storage
from binspark.mirror.api import open_mirror
from binspark.mirror.targets.delta.merge import Merge, session_settings
from binspark.mirror.targets.names import directory_name, name_of_directory
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.storage_options import delta_options, iceberg_properties
from binspark.mirror.targets.target import Commit, Cut, TargetError
from tests.support.mirror.disks import fill, remount, small_disk
from tests.support.mirror.target_files import ITEMS, SCHEMA, put, state_at, write_file

KEYS = {"access_key": "a", "secret_key": "s", "region": "r"}


@pytest.mark.parametrize(
    ("name", "directory"),
    [
        ("orders", "orders"),
        ("a b", "a@0020b"),
        ("Ö", "@00d6"),
        ("a@b", "a@0040b"),
        ("😀", "@d83d@de00"),
        (".", "@002e"),
    ],
)
def test_names_are_written_as_mysql_writes_them_in_names_of_files(name: str, directory: str) -> None:
    assert directory_name(name) == directory
    assert name_of_directory(directory) == name


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
@example("")
@example("..")
@example("../../etc")
@example("@")
@example("@0040")
def test_any_name_is_one_directory_and_comes_back(name: str) -> None:
    directory = directory_name(name)
    assert re.fullmatch(r"[A-Za-z0-9_$@-]+", directory)
    assert name_of_directory(directory) == name


def test_a_relative_path_is_one_of_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    target = parse_target("lake")
    monkeypatch.chdir("/")
    target.create(ITEMS, SCHEMA, state_at(4))
    assert DeltaTable(tmp_path / "lake/shop/items").version() == 0


def test_a_file_uri_is_a_path(kind: Format, tmp_path: Path) -> None:
    target = parse_target(f"file://{tmp_path}/lake", kind)
    target.create(ITEMS, SCHEMA, state_at(4))
    assert (tmp_path / "lake" / "shop").is_dir()
    target.close()


def test_a_file_is_no_target(kind: Format, tmp_path: Path) -> None:
    (tmp_path / "lake").touch()
    with pytest.raises(OptionError, match=r"target must be a directory or a URI, got the file .*/lake"):
        parse_target(str(tmp_path / "lake"), kind)


def test_a_directory_with_a_mirror_in_the_other_format_is_refused(kind: Format, tmp_path: Path) -> None:
    target = parse_target(str(tmp_path), kind)
    target.cuts.append(Cut(1, "binlog.000001:4", "", 0, (), "m"))
    target.close()
    parse_target(str(tmp_path), kind).close()
    other = Format.DELTA if kind is Format.ICEBERG else Format.ICEBERG
    message = rf"format must be {kind}, the format of the mirror in .*, got {other}; use another target for {other}"
    with pytest.raises(OptionError, match=message):
        parse_target(str(tmp_path), other)


def test_an_empty_target_is_refused(kind: Format) -> None:
    with pytest.raises(OptionError, match="target must be a directory or a URI, got nothing"):
        parse_target("", kind)


def test_delta_has_no_catalog() -> None:
    with pytest.raises(OptionError, match="catalog is only valid with Iceberg"):
        parse_target("lake", catalog="prod")


def test_a_catalog_is_given_by_its_properties(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/my.db"
    text = parse_target("", Format.ICEBERG, f"name=prod, type=sql, uri={uri}, warehouse=file://{tmp_path}/warehouse")
    text.create(ITEMS, SCHEMA, state_at(4))
    properties = {"name": "prod", "type": "sql", "uri": uri, "warehouse": f"file://{tmp_path}/warehouse"}
    mapping = parse_target("", Format.ICEBERG, properties)
    found = mapping.table(ITEMS)
    assert found is not None
    put(found, [{"id": 1, "name": "one"}], 10)
    assert found.directory.uri.startswith(f"file://{tmp_path}/warehouse/shop")
    mapping.drop(ITEMS)
    assert mapping.tables() == []
    text.close()
    mapping.close()


def test_a_catalog_is_given_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(
        f"catalog:\n  prod:\n    type: sql\n    uri: sqlite:///{tmp_path}/my.db\n"
    )
    code = (
        "from binspark.mirror.targets.parse import *\n"
        f"print(parse_target('{tmp_path}/lake', Format.ICEBERG, 'prod').tables())\n"
    )
    import os
    import sys

    environment = {**os.environ, "PYICEBERG_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


@pytest.mark.parametrize("catalog", ["type=rest,uri", "=x", "type=no-such-type"])
def test_a_catalog_that_cannot_be_opened_is_an_error(tmp_path: Path, catalog: str) -> None:
    with pytest.raises((OptionError, SourceError)):
        parse_target(str(tmp_path), Format.ICEBERG, catalog)


def test_storage_options_are_translated() -> None:
    storage = Storage.of({**KEYS, "endpoint_override": "http://localhost:9", "connect_timeout": "5", "other": True})
    assert delta_options("s3a://bucket/x", storage) == {
        "aws_access_key_id": "a",
        "aws_secret_access_key": "s",
        "aws_region": "r",
        "aws_endpoint": "http://localhost:9",
        "aws_allow_http": "true",
        "connect_timeout": "5.0s",
        "other": "true",
    }
    assert iceberg_properties("s3://bucket/x", storage) == {
        "s3.access-key-id": "a",
        "s3.secret-access-key": "s",
        "s3.region": "r",
        "s3.endpoint": "http://localhost:9",
        "s3.connect-timeout": "5.0",
        "other": "true",
    }


@pytest.mark.parametrize(("scheme", "url"), [({}, "https://store:9"), ({"scheme": "http"}, "http://store:9")])
def test_an_endpoint_may_have_its_scheme_as_an_option(scheme: dict[str, str], url: str) -> None:
    storage = Storage.of({**KEYS, "endpoint_override": "store:9", **scheme})
    assert delta_options("s3://bucket/x", storage)["aws_endpoint"] == url
    assert iceberg_properties("s3://bucket/x", storage)["s3.endpoint"] == url


def test_credentials_of_a_uri_are_options() -> None:
    storage = Storage.of({"region": "r"}).with_uri("key:se%2Fcret", "")
    assert delta_options("s3://bucket/x", storage)["aws_secret_access_key"] == "se/cret"
    assert iceberg_properties("s3://bucket/x", storage)["s3.access-key-id"] == "key"


def test_options_of_other_stores_are_translated() -> None:
    azure = Storage.of({"account_name": "n", "account_key": "k"})
    assert delta_options("abfss://c@n.dfs.core.windows.net/x", azure) == {
        "azure_storage_account_name": "n",
        "azure_storage_account_key": "k",
    }
    assert iceberg_properties("abfs://c/x", azure) == {"adls.account-name": "n", "adls.account-key": "k"}
    assert iceberg_properties("gs://b/x", Storage.of({"project_id": "p"})) == {"gcs.project-id": "p"}
    assert delta_options("/lake", Storage()) == iceberg_properties("/lake", Storage()) == {}


def test_a_file_in_the_way_of_the_target_is_named(kind: Format, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match=r"file"):
        parse_target(f"{tmp_path}/file/lake", kind).create(ITEMS, SCHEMA, state_at(4))


def test_a_delta_table_that_no_mirror_wrote_is_not_touched(tmp_path: Path) -> None:
    DeltaTable.create(tmp_path / "lake/shop/items", SCHEMA)
    target = parse_target(str(tmp_path / "lake"))
    with pytest.raises(TargetError, match="a table of this name that no mirror wrote"):
        target.create(ITEMS, SCHEMA, state_at(4))
    table = target.table(ITEMS)
    assert table is not None
    base = table.read()
    assert base.state is None
    with pytest.raises(TargetError, match="no mirror wrote"):
        table.commit(Commit(base, state_at(10), [write_file(table.directory, SCHEMA, [])]))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with 400 kB of space."""
    with small_disk(tmp_path / "disk", "400k") as path:
        yield path


def test_a_full_disk_is_an_error_and_the_table_stays_as_it_was(kind: Format, disk: Path) -> None:
    target = parse_target(str(disk / "lake"), kind)
    table = target.create(ITEMS, SCHEMA, state_at(4))
    file = write_file(table.directory, SCHEMA, [{"id": 1, "name": "one"}])
    filler = fill(disk)
    with pytest.raises(SourceError, match="No space left on device"):
        table.commit(Commit(table.read(), state_at(10), [file]))
    filler.unlink()
    assert table.read().state == state_at(4)
    table.commit(Commit(table.read(), state_at(10), [file]))
    assert table.read().state == state_at(10)
    target.close()


def test_a_read_only_target_is_an_error(kind: Format, disk: Path) -> None:
    target = parse_target(str(disk / "lake"), kind)
    table = target.create(ITEMS, SCHEMA, state_at(4))
    base = table.read()
    target.close()  # a file that is open for writing keeps the file system writable
    remount(disk, "ro")
    with pytest.raises(SourceError, match="Read-only file system"):
        table.commit(Commit(base, state_at(10)))
    with pytest.raises(SourceError, match=r"Read-only file system|readonly database|unable to open database"):
        target.create(ITEMS._replace(table="more"), SCHEMA, state_at(4))
    target.close()


def test_the_merge_of_the_jar_is_one_statement() -> None:
    merge = Merge("/lake/my`shop/t", ("/a.parquet", "/b.parquet"), ("id", "a`b"), ("id",))
    assert merge.sql() == (
        "MERGE INTO delta.`/lake/my``shop/t` t"
        " USING (SELECT * FROM parquet.`/a.parquet` UNION ALL SELECT * FROM parquet.`/b.parquet`) s"
        " ON t.`id` = s.`id`"
        " WHEN MATCHED AND s.`__op` = 0 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET t.`id` = s.`id`, t.`a``b` = s.`a``b`"
        " WHEN NOT MATCHED AND NOT s.`__op` = 0 THEN INSERT (`id`, `a``b`) VALUES (s.`id`, s.`a``b`)"
    )


def test_a_spark_without_a_jar_of_delta_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "4.3.0")
    with pytest.raises(OptionError, match=r"needs Spark 4\.2.*got pyspark 4\.3\.0; --format delta writes the same"):
        session_settings({})
    assert "spark.jars.packages" not in session_settings({"PYSPARK_SUBMIT_ARGS": "--jars delta.jar pyspark-shell"})
    monkeypatch.setattr("pyspark.__version__", "4.2.1")
    assert session_settings({})["spark.jars.packages"].startswith("io.delta:delta-spark_4.2_2.13:")


def test_merging_needs_a_session(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="needs a Spark session"):
        open_mirror(None, [tmp_path], tmp_path / "lake", "shop.*", format="delta-merge")
