"""How fast GTID sets are computed with, beside python-mysql-replication."""
