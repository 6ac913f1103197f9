"""Replication between servers of tests."""

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
    if source.family is MySQL:
        gtids = source.query("SELECT @@GLOBAL.gtid_executed")[0][0]
        assert replica.query("SELECT WAIT_FOR_EXECUTED_GTID_SET(%s, 30)", (gtids,)) == [(0,)]
    else:
        gtids = source.query("SELECT @@GLOBAL.gtid_binlog_pos")[0][0]
        assert replica.query("SELECT MASTER_GTID_WAIT(%s, 30)", (gtids,)) == [(0,)]


def promote(replica: Server) -> None:
    replica.run_sql("STOP REPLICA" if replica.family is MySQL else "STOP SLAVE")
