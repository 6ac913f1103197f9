"""A server's changes as they happen, as lines."""
