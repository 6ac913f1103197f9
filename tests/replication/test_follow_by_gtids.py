"""Following by GTIDs, and in bulk again as soon as file and offset are enough."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from binspark.gtid import GtidSet, MariadbPosition
from binspark.replication.chunk import LogChunk
from binspark.replication.follow import Follower
from binspark.replication.gtids import Gtids
from binspark.replication.position import BinlogPosition
from binspark.replication.settings import FollowSettings
from binspark.replication.start import Earliest
from binspark.replication.stop import StopCondition
from binspark.server.config import ConnectionConfig
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.replicas import catch_up, promote, replicate, written_gtids
from tests.support.replication.following import END_OF_LOG, ids_of, make_table, quick, quick_stream
from tests.support.replication.following import insert as insert_each
from tests.support.replication.streams import end_of, files_on_disk, found_start
from tests.support.servers import StartServer, config_of, every_family
from tests.support.tcp_proxy import proxied

pytestmark = pytest.mark.timeout(180)


def insert(server: Server, *ids: int) -> None:
    insert_each(server, "d", *ids)


def after(server: Server, gtids: Gtids) -> BinlogPosition:
    """Return the position of a server after GTIDs."""
    return found_start(server, BinlogPosition.after_gtids(gtids))


def executed(server: Server) -> Gtids:
    return (GtidSet if server.family is MySQL else MariadbPosition)(written_gtids(server))


class Seen:
    """The chunks that a follower has delivered so far."""

    def __init__(self, follower: Follower) -> None:
        self.chunks: list[LogChunk] = []
        self._follower = follower

    @property
    def ids(self) -> list[int]:
        return ids_of(self.chunks, "d")

    @property
    def bulk(self) -> list[LogChunk]:
        """The chunks that came in bulk."""
        return [chunk for chunk in self.chunks if chunk.data and chunk.event is None and not chunk.is_transaction]

    @property
    def in_bulk(self) -> list[int]:
        """The ids that came in bulk."""
        return ids_of(self.bulk, "d")

    @property
    def position(self) -> BinlogPosition:
        return self.chunks[-1].end_position

    def until_id(self, number: int) -> None:
        """Read until an id has come."""
        while number not in self.ids:
            self.chunks.append(next(self._follower))

    def until_by_file(self, server: Server) -> None:
        """Read until file and offset are enough on a server."""
        uuid = found_start(server, Earliest()).server
        while not self.chunks or (self.position.server, self.position.by_file) != (uuid, True):
            self.chunks.append(next(self._follower))

    def to_the_end(self) -> None:
        self.chunks += self._follower


@contextmanager
def following(
    config: ConnectionConfig, start: BinlogPosition, settings: FollowSettings | None = None, **arguments: Any
) -> Iterator[Seen]:
    with Follower(config, start, settings or quick(), **arguments) as follower:
        yield Seen(follower)


@every_family
def test_a_follower_is_in_bulk_again_once_it_has_caught_up_with_another_server(
    family: Family, pair: tuple[Server, Server]
) -> None:
    source, replica = pair
    insert(source, 1, 2)
    config = config_of(source.port, replica.port)
    with following(config, found_start(source, Earliest())) as seen:
        seen.until_id(2)
        assert seen.in_bulk == [1, 2]
        insert(source, 3)
        catch_up(replica, source)
        source.kill()
        promote(replica)
        insert(replica, 4)
        seen.until_id(4)
        seen.until_by_file(replica)
        insert(replica, 5)
        replica.query("FLUSH BINARY LOGS")
        insert(replica, 6)
        seen.until_id(6)
    assert seen.ids == [1, 2, 3, 4, 5, 6]
    assert seen.in_bulk[-2:] == [5, 6]
    assert (seen.position.file, seen.position.gtids) == ("other.000002", executed(replica))


@pytest.mark.slow
@every_family
def test_a_reader_that_may_not_see_where_the_server_writes_learns_it_from_the_next_file(
    family: Family, pair: tuple[Server, Server]
) -> None:
    source, replica = pair
    source.run_sql("CREATE USER reader; GRANT REPLICATION SLAVE ON *.* TO reader")
    insert(source, 1)
    config = config_of(source.port, replica.port, user="reader")
    with following(config, found_start(source, Earliest())) as seen:
        seen.until_id(1)
        catch_up(replica, source)
        source.kill()
        promote(replica)
        insert(replica, 2, 3)
        seen.until_id(3)
        assert not seen.position.by_file
        replica.query("FLUSH BINARY LOGS")
        seen.until_by_file(replica)
        insert(replica, 4, 5)
        seen.until_id(5)
    assert seen.ids == [1, 2, 3, 4, 5]
    assert seen.in_bulk == [1, 4, 5]


@every_family
def test_a_connection_that_is_lost_later_is_made_again_by_file(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, 1)
    catch_up(replica, source)
    with proxied(source.port) as to_source, proxied(replica.port) as to_replica:
        config = config_of(to_source.port, to_replica.port)
        with following(config, found_start(source, Earliest())) as seen:
            seen.until_id(1)
            to_source.refusing = True
            to_source.cut()
            seen.until_by_file(replica)
            insert(source, 2)
            seen.until_id(2)
            to_replica.cut()
            single = sum(chunk.is_transaction for chunk in seen.chunks)
            insert(source, 3)
            seen.until_id(3)
    assert seen.ids == [1, 2, 3]
    assert seen.in_bulk == [1, 2, 3]
    assert sum(chunk.is_transaction for chunk in seen.chunks) == single


@pytest.mark.slow
@every_family
def test_an_address_of_several_servers_is_not_connected_to_again_and_again(
    family: Family, pair: tuple[Server, Server]
) -> None:
    source, replica = pair
    insert(source, 1)
    catch_up(replica, source)
    start = after(source, executed(source))
    patient = quick(stream=quick_stream(missed_heartbeats=100))
    with proxied(replica.port) as proxy, following(config_of(proxy.port), start, patient) as seen:
        seen.until_by_file(replica)
        proxy.target_port = source.port
        seen.until_by_file(source)
        proxy.target_port = replica.port
        insert(source, 2, 3)
        seen.until_id(3)
        assert proxy.accepted == 2
    assert seen.ids == [2, 3]


def with_two_files(server: Server) -> Server:
    """Let a server write 1 and 2 to a file, and 3 to the next."""
    make_table(server, "d")
    insert(server, 1, 2)
    server.query("FLUSH BINARY LOGS")
    insert(server, 3)
    return server


def gtids_of(server: Server, number: int) -> Gtids:
    """Return the GTIDs of the first `number` transactions of a server that has written them all."""
    if server.family is MariaDB:
        return MariadbPosition(f"0-1-{number}")
    return GtidSet(f"{server.query('SELECT @@server_uuid')[0][0]}:1-{number}")


@every_family
@pytest.mark.parametrize("checksum", [pytest.param("CRC32", marks=pytest.mark.slow), "NONE"])
def test_what_comes_in_bulk_after_gtids_are_the_bytes_of_the_log(
    family: Family, checksum: str, start_server: StartServer
) -> None:
    server = start_server(family, {"binlog-checksum": checksum})
    make_table(server, "d")
    insert(server, 1, 2, 3)
    server.query("FLUSH BINARY LOGS")
    insert(server, 4)
    server.restart()
    insert(server, 5)
    start = after(server, gtids_of(server, 4))
    with following(config_of(server.port), start, stop=END_OF_LOG) as seen:
        seen.to_the_end()
    assert (seen.ids, seen.in_bulk) == ([3, 4, 5], [4, 5])
    logs = files_on_disk(server)
    assert [bytes(chunk.data) for chunk in seen.bulk] == [
        logs[chunk.file][chunk.offset : chunk.end] for chunk in seen.bulk
    ]
    assert "binlog.000003" in {chunk.file for chunk in seen.bulk if chunk.offset == 4}


@pytest.mark.slow
@every_family
def test_all_of_a_log_that_is_requested_without_gtids_comes_in_bulk(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, 1, 2)
    with following(config_of(server.port), after(server, GtidSet()), stop=END_OF_LOG) as seen:
        seen.to_the_end()
    assert seen.ids == seen.in_bulk == [1, 2]


@pytest.mark.slow
@every_family
def test_transactions_that_are_wanted_one_by_one_stay_single(family: Family, start_server: StartServer) -> None:
    server = with_two_files(start_server(family))
    start = after(server, gtids_of(server, 3))
    with following(config_of(server.port), start, stop=END_OF_LOG, one_per_chunk=True) as seen:
        seen.to_the_end()
    assert (seen.ids, seen.in_bulk) == ([2, 3], [])
    assert seen.position.by_file


@every_family
def test_an_end_in_the_log_of_the_same_server_is_found_in_bulk(family: Family, start_server: StartServer) -> None:
    server = with_two_files(start_server(family))
    stop = StopCondition(end_of(server))
    insert(server, 4)
    start = after(server, gtids_of(server, 3))
    with following(config_of(server.port), start, stop=stop) as seen:
        seen.to_the_end()
    assert (seen.ids, seen.in_bulk) == ([2, 3], [3])


@every_family
def test_an_end_in_the_log_of_another_server_is_found_by_gtids(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, 1)
    catch_up(replica, source)
    replica.query("FLUSH BINARY LOGS")
    insert(source, 2, 3)
    catch_up(replica, source)
    stop, config = StopCondition(end_of(source)), config_of(source.port, replica.port)
    with following(config, after(source, gtids_of(source, 3)), stop=stop) as seen:
        source.kill()
        insert(replica, 4)
        seen.to_the_end()
    assert seen.ids == [2, 3]


@pytest.mark.mysql
def test_gtids_that_only_the_lost_server_had_are_waited_for(start_server: StartServer) -> None:
    source, replica = (start_server(MySQL, {"server-id": number, "log-bin": f"log{number}"}) for number in (1, 2))
    replicate(replica, source)
    make_table(source, "d")
    insert(source, 1)
    catch_up(replica, source)
    promote(replica)
    insert(source, 2)
    with following(config_of(source.port, replica.port), found_start(source, Earliest())) as seen:
        seen.until_id(2)
        source.kill()
        insert(replica, 3)
        replica.query("FLUSH BINARY LOGS")
        insert(replica, 4)
        seen.until_id(4)
    assert seen.ids == [1, 2, 3, 4]
    assert seen.in_bulk == [1, 2]
    assert not seen.position.by_file


@pytest.mark.mysql
def test_tagged_gtids_are_skipped_up_to_where_the_server_wrote(start_server: StartServer) -> None:
    server = start_server(MySQL)
    make_table(server, "d")
    for number, tag in enumerate(("red", "blue", "red"), 1):
        server.run_sql(f"SET gtid_next = 'AUTOMATIC:{tag}'; INSERT INTO d.t VALUES ({number}, '')")
    delivered = executed(server)
    insert(server, 4)
    with following(config_of(server.port), after(server, delivered)) as seen:
        seen.until_id(4)
        seen.until_by_file(server)
        server.run_sql("SET gtid_next = 'AUTOMATIC:blue'; INSERT INTO d.t VALUES (5, '')")
        seen.until_id(5)
    assert (seen.ids, seen.in_bulk) == ([4, 5], [5])


@pytest.mark.mariadb
def test_mariadb_without_strict_mode_skips_larger_numbers_of_other_servers_too(start_server: StartServer) -> None:
    server = start_server(MariaDB)
    make_table(server, "d")
    files = [[(2, 90)], [(2, 91), (3, 60), (2, 50)], [(2, 30)]]
    numbers = iter(range(1, 6))
    for gtids in files:
        server.query("FLUSH BINARY LOGS")
        for source, sequence in gtids:
            writing = f"SET server_id = {source}, gtid_seq_no = {sequence}"
            server.run_sql(f"{writing}; INSERT INTO d.t VALUES ({next(numbers)}, '')")
    with following(config_of(server.port), after(server, MariadbPosition("0-3-60")), stop=END_OF_LOG) as seen:
        seen.to_the_end()
    assert (seen.ids, seen.in_bulk) == ([4, 5], [5])
