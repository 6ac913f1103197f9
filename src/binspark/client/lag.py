"""Another server of the same topology may not have what was delivered yet."""

from __future__ import annotations

import logging

from binspark.client.connect import Connection
from binspark.errors import ConnectionLost
from binspark.gtid import GtidSet, MariadbPosition

log = logging.getLogger("binspark.client")


def look_at_lag(connection: Connection, gtids: GtidSet | MariadbPosition) -> None:
    """Look whether a server has all transactions that were delivered from another.

    MySQL goes on without them, and leaves them out once it has them; if they were lost with the other server, they will
    never come, and somebody should know. MariaDB cannot begin behind a GTID that it does not have: it is tried again.
    """
    if isinstance(gtids, GtidSet):
        executed = GtidSet(str(connection.rows("SELECT @@GLOBAL.gtid_executed")[0][0]))
        if missing := gtids - executed:
            message = "%s lacks transactions that were delivered; it lags, or they are lost: %s"
            log.warning(message, connection.address, missing)
        return
    reached = MariadbPosition(str(connection.rows("SELECT @@GLOBAL.gtid_binlog_pos")[0][0]))
    if missing_from := gtids - reached:
        message = f"the server has not reached {missing_from} yet, which was delivered; it lags, or has lost it"
        raise ConnectionLost(message, connection.position)
