"""Errors that a client gets. Those of a dump have the texts of MySQL and MariaDB, which their replicas' users know."""

from __future__ import annotations

from binspark.frames.format import Family
from binspark.gtid import GtidSet, MariadbGtid

FATAL = 1236
"""The code of every error that ends a dump. A replica stops, and does not try again."""

GENERAL_STATE = "HY000"


class ClientError(Exception):
    """An error that the client gets, with its code and SQL state."""

    def __init__(self, code: int, message: str, state: str = GENERAL_STATE) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.state = state


def fatal(message: str) -> ClientError:
    """Return the error that ends a dump."""
    return ClientError(FATAL, message)


def no_such_log() -> ClientError:
    """Return the error about a log that is not in the archive."""
    return fatal("Could not find first log file name in binary log index file")


def missing_log(name: str) -> ClientError:
    """Return the error about a log that is missing between two others."""
    return fatal(f"could not find next log; {name} is missing in the archive, later logs are there")


def impossible_position(family: Family, file: str, offset: int) -> ClientError:
    """Return the error about a position that is after the end of its log."""
    if family is Family.MARIADB:
        message = "Client requested master to start replication from impossible position"
        return fatal(message + _where(file, offset, file, 4, 4))
    return fatal("Client requested source to start replication from position > file size")


def too_small_position() -> ClientError:
    """Return the error about a position that is before the first event."""
    return fatal("Client requested source to start replication from position < 4")


def damaged(start: tuple[str, int], file: str, offset: int, *, mismatch: bool = False) -> ClientError:
    """Return the error about bytes that are not an event, or one whose checksum does not match."""
    message = "event read from binlog did not pass crc check" if mismatch else "bogus data in log event"
    return fatal(message + _where(*start, file, offset, offset))


def truncated(start: tuple[str, int], file: str, offset: int) -> ClientError:
    """Return the error about a log that ends inside an event, although another one follows."""
    message = "binlog truncated in the middle of event; consider out of disk space on source"
    return fatal(message + _where(*start, file, offset, offset))


def _where(first_file: str, first: int, file: str, last: int, byte: int) -> str:
    return (
        f"; the first event '{first_file}' at {first}, the last event read from '{file}' at {last}, "
        f"the last byte read from '{file}' at {byte}."
    )


def no_checksums() -> ClientError:
    """Return the error for a reader that has not said that it reads checksums."""
    return fatal("Replica can not handle replication events with the checksum that source is configured to log")


def no_mariadb_gtids() -> ClientError:
    """Return the error for a reader that has not said that it knows MariaDB's GTIDs."""
    message = "the logs are MariaDB's, whose GTID events this client does not know: SET @mariadb_slave_capability = 4"
    return fatal(message)


def purged(requested: GtidSet, missing: GtidSet) -> ClientError:
    """Return the error about GTIDs whose logs are not in the archive."""
    return fatal(
        "Cannot replicate because the source purged required binary logs. Replicate the missing transactions from "
        "elsewhere, or provision a new replica from backup. Consider increasing the source's binary log expiration "
        f"period. The GTID set sent by the replica is '{requested}', and the missing transactions are '{missing}'"
    )


def replica_has_more() -> ClientError:
    """Return the error about a replica with GTIDs of the source that the archive does not have."""
    return fatal(
        "Replica has more GTIDs than the source has, using the source's SERVER_UUID. This may indicate that the last "
        "binary log file was truncated or lost, e.g., after a power failure when sync_binlog != 1. The archive may be "
        "older than the replica: continue the archive first."
    )


def mariadb_purged() -> ClientError:
    """Return the error about a GTID position whose logs are not in the archive."""
    return fatal(
        "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and "
        "required binlog files have been purged."
    )


def mariadb_not_found(gtid: MariadbGtid, *, has_later: bool) -> ClientError:
    """Return the error about a GTID that is not in the archive, which may have later ones of the domain."""
    message = f"Error: connecting slave requested to start from GTID {gtid}, which is not in the master's binlog"
    if has_later:
        message += (
            ". Since the master's binlog contains GTIDs with higher sequence numbers, it probably means that the slave "
            "has diverged due to executing extra erroneous transactions"
        )
    return fatal(message)


def mariadb_hole(gtid: MariadbGtid) -> ClientError:
    """Return the error about a GTID that is not in the log, although those before and after it are."""
    return fatal(
        "The binlog on the master is missing the GTID requested by the slave (even though both a prior and a "
        f"subsequent sequence number does exist), and GTID strict mode is enabled: {gtid}"
    )


def access_denied(user: str, host: str, *, with_password: bool) -> ClientError:
    """Return the error about a wrong user or password."""
    given = "YES" if with_password else "NO"
    return ClientError(1045, f"Access denied for user '{user}'@'{host}' (using password: {given})", "28000")


def read_only(statement: str) -> ClientError:
    """Return the error about a statement that is not answered."""
    message = f"binspark serves an archive of binary logs, read-only, and cannot run this statement: {statement[:200]}"
    return ClientError(1290, message)


def unknown_variable(name: str) -> ClientError:
    """Return the error about a variable that this source does not have."""
    return ClientError(1193, f"Unknown system variable '{name}'")


def unknown_command(code: int) -> ClientError:
    """Return the error about a command that is not answered."""
    return ClientError(1047, f"binspark serves an archive of binary logs and has no command 0x{code:02x}", "08S01")


def too_many_connections(which: str) -> ClientError:
    """Return the error for a client that is one too many."""
    return ClientError(1040, f"Too many connections: {which}", "08004")
