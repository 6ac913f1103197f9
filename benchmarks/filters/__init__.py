"""How fast commands find what filters select of a log."""
