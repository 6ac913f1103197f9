"""A dump of a server, with its position in the log, as the start of a mirror: mysqldump, mariadb-dump, mydumper."""
