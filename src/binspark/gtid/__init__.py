"""GTID algebra: MySQL's sets with tags, MariaDB's positions and states; text, server encoding, operators.

>>> from binspark.gtid import GtidSet
>>> source = GtidSet("b8ae2fd2-3005-11f0-8be8-0242ac150002:1-9")
>>> replica = GtidSet("b8ae2fd2-3005-11f0-8be8-0242ac150002:1-5:8")
>>> str(source - replica)
'b8ae2fd2-3005-11f0-8be8-0242ac150002:6-7:9'
"""

from binspark.gtid.builder import GtidSetBuilder
from binspark.gtid.encoding import decode_gtid_set, encode_gtid_set
from binspark.gtid.gtid import Gtid
from binspark.gtid.gtid_set import GtidSet
from binspark.gtid.mariadb import MariadbGtid, MariadbPosition, MariadbState
from binspark.gtid.mariadb_ranges import MariadbRanges
from binspark.gtid.syntax import MAX_NUMBER

__all__ = [
    "MAX_NUMBER",
    "Gtid",
    "GtidSet",
    "GtidSetBuilder",
    "MariadbGtid",
    "MariadbPosition",
    "MariadbRanges",
    "MariadbState",
    "decode_gtid_set",
    "encode_gtid_set",
]
