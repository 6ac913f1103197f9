"""A server's changes as they happen, as lines of text or JSON."""
