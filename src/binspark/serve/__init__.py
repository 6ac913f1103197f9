"""An archive as a replication source: replicas of MySQL and MariaDB, and other readers of logs, connect to it.

server          listens, and has a thread for each client
session         one client: login, statements, a dump
dump            the logs from a position on, as a source sends them; `packer`, `events`: how
find            where a dump begins, and what cannot be sent; `gtid_skips`: what the reader has already
logs            the logs of the archive; `archive_end`: where they end for now
statements      the statements that readers send, and their answers; `source_info`: what the source reports of itself
protocol        the server's side of the protocol as bytes; `authentication`, `certificate`, `channel`, `errors`
settings        how an archive is served
"""
