"""Rows of the log as records: what becomes of each key of a table."""
