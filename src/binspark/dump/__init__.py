"""Logs as the text that the servers' own tools print: `mysqlbinlog` for MySQL, `mariadb-binlog` for MariaDB."""
