"""A served archive sends the same packets as the server that it was copied from, whatever is requested."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from binspark.gtid import GtidSet
from binspark.replication.commands import BinlogDump, BinlogDumpGtid, DumpFlag
from binspark.replication.packets import ErrorPacket
from binspark.testing.servers import Family, MySQL, Server
from tests.support.archive.archiving import archive, settle
from tests.support.replicas import written_gtids
from tests.support.serve.clients import PLAIN, Variables, dumped, refusal, serving
from tests.support.serve.clients import config_of as served_config
from tests.support.servers import FAMILIES, config_of, every_family, shared

__all__ = ["shared"]

only_mysql = pytest.mark.parametrize("family", FAMILIES[:1])
only_mariadb = pytest.mark.parametrize("family", FAMILIES[1:])

READER = 4711
END = DumpFlag.NON_BLOCK


class Copied:
    """A shared server with three new logs, and their archive.

    logs    the names of the logs
    gtids   what the server had written before the first row, and after each of nine
    middle  the offset of a transaction in the second log
    """

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE before_the_archive")
            cursor.execute("FLUSH BINARY LOGS")
            first = len(server.log_files()) - 1
            cursor.execute("CREATE DATABASE like_a_server")
            cursor.execute("CREATE TABLE like_a_server.t (id INT PRIMARY KEY, pad LONGTEXT)")
            self.gtids = [written_gtids(server)]
            self.middle = 0
            for number in range(9):
                if number in (3, 6):
                    cursor.execute("FLUSH BINARY LOGS")
                if number == 4:
                    cursor.execute("SHOW BINARY LOG STATUS" if server.family is MySQL else "SHOW MASTER STATUS")
                    self.middle = int(cursor.fetchone()[1])
                cursor.execute("INSERT INTO like_a_server.t VALUES (%s, REPEAT('x', %s))", (number, 1000 * number))
                self.gtids.append(written_gtids(server))
        self.logs = [path.name for path in server.log_files()[first:]]

    def archive(self) -> None:
        """Copy what the server has written, by other tests, too, since the last time."""
        settle(self.server)
        archive(self.server, self.folder, start=self.logs[0])


_COPIED: dict[str, Copied] = {}


@pytest.fixture
def copied(family: Family, shared: Server, tmp_path_factory: pytest.TempPathFactory) -> Copied:
    if family.name not in _COPIED:
        _COPIED[family.name] = Copied(shared, tmp_path_factory.mktemp("archive"))
    _COPIED[family.name].archive()
    return _COPIED[family.name]


def check_same(copied: Copied, command: BinlogDump | BinlogDumpGtid, variables: Variables = PLAIN) -> list[bytes]:
    expected = dumped(config_of(copied.server.port), command, variables)
    with serving(copied.folder) as served:
        assert dumped(served_config(served), command, variables) == expected
    return expected


def executed(copied: Copied, number: int) -> GtidSet:
    return GtidSet(copied.gtids[number])


@every_family
def test_a_dump_from_the_beginning_of_a_log(family: Family, copied: Copied) -> None:
    flags = END if family is MySQL else END | DumpFlag.ANNOTATE_ROWS
    packets = check_same(copied, BinlogDump(4, flags, READER, copied.logs[0]))
    assert len(packets) > 9 * 4


@every_family
def test_a_dump_from_the_middle_of_a_log(family: Family, copied: Copied) -> None:
    check_same(copied, BinlogDump(copied.middle, END, READER, copied.logs[1]))


@only_mysql
def test_a_dump_to_a_client_whose_artificial_events_need_no_checksum(family: Family, copied: Copied) -> None:
    none = {"master_binlog_checksum": "NONE", "source_binlog_checksum": "NONE"}
    check_same(copied, BinlogDump(copied.middle, END, READER, copied.logs[1]), none)


@only_mysql
def test_a_dump_by_gtids_of_mysql(family: Family, copied: Copied) -> None:
    for number, flags in product([0, 1, 4, 5, 9], [END, END | DumpFlag.HEARTBEAT_V2]):
        check_same(copied, BinlogDumpGtid(flags, READER, executed(copied, number)))


@only_mysql
def test_a_dump_by_gtids_of_mysql_with_a_gap(family: Family, copied: Copied) -> None:
    gap = executed(copied, 7) - (executed(copied, 5) - executed(copied, 3))
    packets = check_same(copied, BinlogDumpGtid(END, READER, gap))
    assert len(packets) < len(check_same(copied, BinlogDumpGtid(END, READER, executed(copied, 3))))


@only_mariadb
def test_a_dump_by_gtids_of_mariadb(family: Family, copied: Copied) -> None:
    for number in (0, 1, 4, 6, 9):
        wanted: Variables = {"slave_connect_state": copied.gtids[number], "slave_gtid_strict_mode": 0}
        check_same(copied, BinlogDump(4, END, READER, ""), {**PLAIN, **wanted})


@only_mariadb
def test_a_dump_of_mariadb_up_to_a_gtid(family: Family, copied: Copied) -> None:
    *_, last = copied.gtids
    domain, server, sequence = last.split("-")
    later, elsewhere = f"{domain}-{server}-{int(sequence) + 99999}", f"{copied.gtids[4]},77-1-5"
    lengths = {}
    for start, until in product([copied.gtids[0], copied.gtids[5]], [*copied.gtids[::3], later, elsewhere]):
        wanted: Variables = {"slave_connect_state": start, "slave_until_gtid": until}
        packets = check_same(copied, BinlogDump(4, END, READER, ""), {**PLAIN, **wanted})
        lengths[start, until] = len(packets)
    up_to = [lengths[copied.gtids[0], until] for until in copied.gtids[::3]]
    assert up_to == sorted(set(up_to))


@every_family
def test_what_a_server_refuses_is_refused_with_its_own_words(family: Family, copied: Copied) -> None:
    missing = BinlogDump(4, END, READER, "binlog.999999")
    late = BinlogDump(1 << 31, END, READER, copied.logs[0])
    early = BinlogDump(2, END, READER, copied.logs[0])
    commands = (missing, late, early) if family is MySQL else (missing, late)
    with serving(copied.folder) as served:
        for command in commands:
            expected = refusal(config_of(copied.server.port), command)
            assert refusal(served_config(served), command) == expected
            assert expected.code == 1236


@only_mysql
def test_gtids_of_a_replica_that_the_archive_cannot_serve(family: Family, copied: Copied) -> None:
    uuid = copied.server.query("SELECT @@server_uuid")[0][0]
    with serving(copied.folder) as served:
        purged = refusal(served_config(served), BinlogDumpGtid(END, READER, GtidSet()))
        ahead = refusal(served_config(served), BinlogDumpGtid(END, READER, GtidSet(f"{uuid}:1-99999999")))
    assert purged == ErrorPacket(1236, purged.message, "HY000")
    assert purged.message.startswith("Cannot replicate because the source purged required binary logs.")
    assert "The GTID set sent by the replica is '', and the missing transactions are" in purged.message
    assert uuid in purged.message
    assert ahead.message.startswith("Replica has more GTIDs than the source has, using the source's SERVER_UUID.")


@only_mariadb
def test_gtids_of_a_replica_that_mariadbs_archive_cannot_serve(family: Family, copied: Copied) -> None:

    def answer(port: int, user: str, position: str) -> ErrorPacket:
        config = config_of(port, user=user)
        return refusal(config, BinlogDump(4, END, READER, ""), {**PLAIN, "slave_connect_state": position})

    with serving(copied.folder) as served:
        for position in ("0-1-999999", "0-77-2"):
            assert answer(served.port, "repl", position) == answer(copied.server.port, "root", position)
        old = answer(served.port, "repl", "")
    assert old.message.startswith("Could not find GTID state requested by slave in any binlog files.")
