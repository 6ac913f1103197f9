"""How fast encrypted logs are read."""
