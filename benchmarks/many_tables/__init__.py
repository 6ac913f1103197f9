"""How long a log takes that changes thousands of tables."""
