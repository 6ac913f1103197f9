"""How fast logs become columns, compared with other readers."""
