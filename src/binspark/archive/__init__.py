"""A copy of a server's log files, byte for byte, as they are written.

>>> from binspark.archive.archiver import open_archiver
>>> from binspark.server.config import connection_config
>>> open_archiver(connection_config(host="db1"), "archive/").run()  # doctest: +SKIP

archiver   follows the server and writes what comes
writer     the active log: writing it, bringing it to disk, beginning and ending it
recovery   where a copy begins, and where it continues after an interruption
directory  the folder of logs: names, index, lock
target     where logs are kept: in that folder, or in a remote store that it is the spool of (`remote`)
retention  how much is kept
progress   how fast the copy is, and how far it lags
settings   how a server is archived
"""
