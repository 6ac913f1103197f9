"""The text that `mysqlbinlog` prints of MySQL's logs."""
