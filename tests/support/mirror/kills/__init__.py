"""Mirrors that are killed while a random workload changes their source."""
