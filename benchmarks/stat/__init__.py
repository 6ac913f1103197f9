"""How fast the contents of logs are counted."""
