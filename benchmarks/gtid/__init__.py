"""How fast operations on GTID sets are, compared with python-mysql-replication."""
