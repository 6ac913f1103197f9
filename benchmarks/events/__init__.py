"""How fast logs become event objects, beside python-mysql-replication."""
