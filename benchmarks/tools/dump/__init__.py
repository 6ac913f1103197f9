"""`binspark dump` against mysqlbinlog."""
