"""The text that `mariadb-binlog` prints of MariaDB's logs."""
