"""Pieces of a log that were read by GTIDs, and come in bulk again as soon as a place in a file is enough."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from binspark.client.bulk.follow_pieces import PieceFollower
from binspark.client.bulk.pieces import BytesPiece, GroupPiece, Piece
from binspark.client.connect import connect
from binspark.client.options import ConnectionOptions
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings
from binspark.client.start import AtGtids, Earliest, StartFrom
from binspark.client.until import Until, find_until
from binspark.gtid import GtidSet, MariadbPosition
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.client.client_help import (
    StartServer,
    every_family,
    inserted_ids,
    make_table,
    options_of,
    quick,
    quick_stream,
)
from tests.support.client.client_help import insert as insert_each
from tests.support.client.stream_help import files_on_disk
from tests.support.replicas import catch_up, promote, replicate, written_gtids
from tests.support.tcp_proxy import proxied

pytestmark = pytest.mark.timeout(180)

TO_THE_END = quick(stream=quick_stream(until_end=True))


def insert(server: Server, *ids: int) -> None:
    insert_each(server, "d", *ids)


def point_on(server: Server, start: StartFrom) -> ResumePoint:
    with connect(options_of(server.port)) as connection:
        return resolve_start(connection, start)


def end_of(server: Server) -> Until:
    with connect(options_of(server.port)) as connection:
        return find_until(connection, "end")


def executed(server: Server) -> GtidSet | MariadbPosition:
    return (GtidSet if server.family is MySQL else MariadbPosition)(written_gtids(server))


class Seen:
    """The pieces that a follower has brought so far."""

    def __init__(self, follower: PieceFollower) -> None:
        self.pieces: list[Piece] = []
        self._follower = follower

    @property
    def ids(self) -> list[int]:
        return [number for piece in self.pieces for number in inserted_ids(piece.events(), "d")]

    @property
    def in_bulk(self) -> list[int]:
        """The ids that came in bulk."""
        bulk = [piece for piece in self.pieces if isinstance(piece, BytesPiece)]
        return [number for piece in bulk for number in inserted_ids(piece.events(), "d")]

    def until_id(self, number: int) -> None:
        """Read until an id has come."""
        while number not in self.ids:
            self.pieces.append(next(self._follower))

    def until_by_file(self, server: Server) -> None:
        """Read until a place in a file of a server is enough."""
        uuid = point_on(server, Earliest()).server
        while not self.pieces or (self.pieces[-1].resume.server, self.pieces[-1].resume.by_file) != (uuid, True):
            self.pieces.append(next(self._follower))

    def to_the_end(self) -> None:
        self.pieces += self._follower


@contextmanager
def following(
    options: ConnectionOptions, start: ResumePoint, settings: FollowSettings | None = None, **arguments: Any
) -> Iterator[Seen]:
    follower = PieceFollower(options, start, settings or quick(), **arguments)
    with closing(follower):
        yield Seen(follower)


@every_family
def test_a_follower_is_in_bulk_again_once_it_has_caught_up_with_another_server(
    family: Family, pair: tuple[Server, Server]
) -> None:
    source, replica = pair
    insert(source, 1, 2)
    options = options_of(source.port, replica.port)
    with following(options, point_on(source, Earliest())) as seen:
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
    resume = seen.pieces[-1].resume
    assert (resume.file, resume.gtids) == ("other.000002", executed(replica))


@pytest.mark.slow
@every_family
def test_a_reader_that_may_not_ask_where_the_server_writes_learns_it_from_the_next_file(
    family: Family, pair: tuple[Server, Server]
) -> None:
    source, replica = pair
    source.run_sql("CREATE USER reader; GRANT REPLICATION SLAVE ON *.* TO reader")
    insert(source, 1)
    options = options_of(source.port, replica.port, user="reader")
    with following(options, point_on(source, Earliest())) as seen:
        seen.until_id(1)
        catch_up(replica, source)
        source.kill()
        promote(replica)
        insert(replica, 2, 3)
        seen.until_id(3)
        assert not seen.pieces[-1].resume.by_file
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
        options = options_of(to_source.port, to_replica.port)
        with following(options, point_on(source, Earliest())) as seen:
            seen.until_id(1)
            to_source.refusing = True
            to_source.cut()
            seen.until_by_file(replica)
            insert(source, 2)
            seen.until_id(2)
            to_replica.cut()
            groups = sum(isinstance(piece, GroupPiece) for piece in seen.pieces)
            insert(source, 3)
            seen.until_id(3)
    assert seen.ids == [1, 2, 3]
    assert seen.in_bulk == [1, 2, 3]
    assert sum(isinstance(piece, GroupPiece) for piece in seen.pieces) == groups


@pytest.mark.slow
@every_family
def test_an_address_that_stands_for_several_servers_is_not_connected_to_again_and_again(
    family: Family, pair: tuple[Server, Server]
) -> None:
    source, replica = pair
    insert(source, 1)
    catch_up(replica, source)
    start = point_on(source, AtGtids(executed(source)))
    patient = quick(stream=quick_stream(missed_heartbeats=100))
    with proxied(replica.port) as proxy, following(options_of(proxy.port), start, patient) as seen:
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


def gtids_of(server: Server, number: int) -> GtidSet | MariadbPosition:
    """Return the GTIDs of the first so many transactions of a server that has written them all."""
    if server.family is MariaDB:
        return MariadbPosition(f"0-1-{number}")
    return GtidSet(f"{server.query('SELECT @@server_uuid')[0][0]}:1-{number}")


@every_family
@pytest.mark.parametrize("checksum", [pytest.param("CRC32", marks=pytest.mark.slow), "NONE"])
def test_what_comes_in_bulk_behind_gtids_are_the_bytes_of_the_log(
    family: Family, checksum: str, start_server: StartServer
) -> None:
    server = start_server(family, {"binlog-checksum": checksum})
    make_table(server, "d")
    insert(server, 1, 2, 3)
    server.query("FLUSH BINARY LOGS")
    insert(server, 4)
    server.restart()
    insert(server, 5)
    start = point_on(server, AtGtids(gtids_of(server, 4)))
    with following(options_of(server.port), start, TO_THE_END) as seen:
        seen.to_the_end()
    assert (seen.ids, seen.in_bulk) == ([3, 4, 5], [4, 5])
    bulk = [piece for piece in seen.pieces if isinstance(piece, BytesPiece)]
    logs = files_on_disk(server)
    assert [piece.data.tobytes() for piece in bulk] == [logs[piece.file][piece.offset : piece.end] for piece in bulk]
    assert "binlog.000003" in {piece.file for piece in bulk if piece.offset == 4}


@pytest.mark.slow
@every_family
def test_all_of_a_log_that_is_asked_for_without_gtids_comes_in_bulk(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, 1, 2)
    with following(options_of(server.port), point_on(server, AtGtids(GtidSet())), TO_THE_END) as seen:
        seen.to_the_end()
    assert seen.ids == seen.in_bulk == [1, 2]


@pytest.mark.slow
@every_family
def test_pieces_that_are_not_wanted_in_bulk_stay_single(family: Family, start_server: StartServer) -> None:
    server = with_two_files(start_server(family))
    start = point_on(server, AtGtids(gtids_of(server, 3)))
    with following(options_of(server.port), start, TO_THE_END, in_bulk=False) as seen:
        seen.to_the_end()
    assert (seen.ids, seen.in_bulk) == ([2, 3], [])
    assert seen.pieces[-1].resume.by_file


@every_family
def test_an_end_in_the_log_of_the_same_server_is_found_in_bulk(family: Family, start_server: StartServer) -> None:
    server = with_two_files(start_server(family))
    until = end_of(server)
    insert(server, 4)
    start = point_on(server, AtGtids(gtids_of(server, 3)))
    with following(options_of(server.port), start, until=until) as seen:
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
    until, options = end_of(source), options_of(source.port, replica.port)
    with following(options, point_on(source, AtGtids(gtids_of(source, 3))), until=until) as seen:
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
    with following(options_of(source.port, replica.port), point_on(source, Earliest())) as seen:
        seen.until_id(2)
        source.kill()
        insert(replica, 3)
        replica.query("FLUSH BINARY LOGS")
        insert(replica, 4)
        seen.until_id(4)
    assert seen.ids == [1, 2, 3, 4]
    assert seen.in_bulk == [1, 2]
    assert not seen.pieces[-1].resume.by_file


@pytest.mark.mysql
def test_tagged_gtids_are_left_out_up_to_where_the_server_wrote(start_server: StartServer) -> None:
    server = start_server(MySQL)
    make_table(server, "d")
    for number, tag in enumerate(("red", "blue", "red"), 1):
        server.run_sql(f"SET gtid_next = 'AUTOMATIC:{tag}'; INSERT INTO d.t VALUES ({number}, '')")
    delivered = executed(server)
    insert(server, 4)
    with following(options_of(server.port), point_on(server, AtGtids(delivered))) as seen:
        seen.until_id(4)
        seen.until_by_file(server)
        server.run_sql("SET gtid_next = 'AUTOMATIC:blue'; INSERT INTO d.t VALUES (5, '')")
        seen.until_id(5)
    assert (seen.ids, seen.in_bulk) == ([4, 5], [5])


@pytest.mark.mariadb
def test_mariadb_without_strict_mode_leaves_larger_numbers_of_other_servers_out_too(start_server: StartServer) -> None:
    server = start_server(MariaDB)
    make_table(server, "d")
    files = [[(2, 90)], [(2, 91), (3, 60), (2, 50)], [(2, 30)]]
    numbers = iter(range(1, 6))
    for gtids in files:
        server.query("FLUSH BINARY LOGS")
        for source, sequence in gtids:
            writing = f"SET server_id = {source}, gtid_seq_no = {sequence}"
            server.run_sql(f"{writing}; INSERT INTO d.t VALUES ({next(numbers)}, '')")
    with following(options_of(server.port), point_on(server, AtGtids(MariadbPosition("0-3-60"))), TO_THE_END) as seen:
        seen.to_the_end()
    assert (seen.ids, seen.in_bulk) == ([4, 5], [5])
