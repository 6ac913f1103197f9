"""Table maps and DDL into the shapes of tables: what a table was then."""
