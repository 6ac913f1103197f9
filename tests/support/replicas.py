"""Replication between the servers of tests."""

from __future__ import annotations

from binspark.testing.servers import MySQL, Server


def replicate(replica: Server, source: Server) -> None:
    """Make one server the replica of another."""
    if source.family is MySQL:
        replica.run_sql(
            f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='root',"
            "SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1; START REPLICA"
        )
        return
    replica.run_sql(
        f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source.port}, MASTER_USER='root',"
        "MASTER_USE_GTID=slave_pos; START SLAVE"
    )


def catch_up(replica: Server, source: Server) -> None:
    """Wait until a replica has all that its source has."""
    waiting = "WAIT_FOR_EXECUTED_GTID_SET" if source.family is MySQL else "MASTER_GTID_WAIT"
    assert replica.query(f"SELECT {waiting}(%s, 30)", (written_gtids(source),)) == [(0,)]


def written_gtids(server: Server) -> str:
    """Return the GTIDs of all that a server has written."""
    variable = "gtid_executed" if server.family is MySQL else "gtid_binlog_pos"
    return str(server.query(f"SELECT @@GLOBAL.{variable}")[0][0])


def reset_logs(server: Server) -> None:
    """Let a server begin its logs anew, without any GTID."""
    mariadb = "RESET MASTER; SET GLOBAL gtid_slave_pos = ''"
    server.run_sql("RESET BINARY LOGS AND GTIDS" if server.family is MySQL else mariadb)


def promote(replica: Server) -> None:
    replica.run_sql("STOP REPLICA" if replica.family is MySQL else "STOP SLAVE")
