"""How fast logs become event objects, compared with python-mysql-replication."""
