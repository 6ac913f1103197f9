"""Rows of Arrow arrays as JSON text."""
