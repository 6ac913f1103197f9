"""Where a stream goes on that may lose data: its place if that is still there, else the oldest that is left."""

from __future__ import annotations

import logging
from dataclasses import replace

from binspark.client.connect import Connection
from binspark.client.facts import purged_gtids, server_logs
from binspark.client.identity import identify
from binspark.client.probe import file_created
from binspark.client.resolve import resolve_start
from binspark.client.start import Earliest
from binspark.files.sources import log_order
from binspark.gtid import GtidSet
from binspark.spark.stream_offset import StreamOffset

log = logging.getLogger("binspark.spark")


def surviving(connection: Connection, place: StreamOffset) -> StreamOffset:
    """Return a place of a server's log, or where to go on if what follows it is gone.

    Where logs were purged, that is behind them. Where they were reset, it is the beginning of the new ones, and `lost`
    says that no order holds across it. A place of another server is left to that server.
    """
    if not place.by_file:
        return _behind_purged(connection, place)
    if identify(connection).uuid != place.server:
        return place
    if _is_there(connection, place):
        return place
    oldest = StreamOffset.of_point(resolve_start(connection, Earliest()), place.lost)
    if log_order(oldest.file) > log_order(place.file):
        log.warning("%s is gone before it was read; going on with %s", place.file, oldest.file)
        return oldest
    log.warning("the logs were reset behind %s; going on with the new ones, from %s", place.position, oldest.file)
    return replace(oldest, lost=place.lost + 1)


def _is_there(connection: Connection, place: StreamOffset) -> bool:
    """Tell whether a log is the one that was read, and as long as that."""
    sizes = {listed.name: listed.size for listed in server_logs(connection)}
    if sizes.get(place.file, 0) < place.pos:
        return False
    return not place.created or file_created(connection.options, place.file) == place.created


def _behind_purged(connection: Connection, place: StreamOffset) -> StreamOffset:
    """Return a place that GTIDs tell, behind those that were purged too."""
    gtids, purged = place.point.gtids, purged_gtids(connection)
    if not isinstance(gtids, GtidSet) or purged <= gtids:
        return place
    log.warning("transactions are gone before they were read: %s", purged - gtids)
    return replace(place, gtid=str(gtids | purged))
