"""The rim towards copies: a server's log files, byte for byte, as they are written; and its changes as they happen.

>>> from binspark.archive.archiver import open_archiver
>>> from binspark.client.gather import connection_options
>>> open_archiver(connection_options(hosts="db1"), "archive/").run()  # doctest: +SKIP

Copies
open, settings, archiver       the copy itself
names, folder, lock, disk      where it is written
growing_log, found_log         a log that grows, and what is there of one that was interrupted
places                         where a copy begins and goes on
appending, syncing             runs into the log that grows, and when they are on disk
retention, meter               how much of it is kept, how fast it is
depot, store_depot             what happens to logs: here, and in a store
store, store_lock, spool       stores, and the folder in which logs grow before they go there

Changes
tail                           changes from one place to another, as lines
tables_then                    what a server says of its tables, as far as it was true
ahead                          the next piece, while this one is dealt with
change_printer, change_lines   pieces into lines
rooms                          memory that is used again
"""
