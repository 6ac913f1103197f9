"""MySQL tables in a lakehouse: a snapshot, then changes, each exactly once, and proven."""
