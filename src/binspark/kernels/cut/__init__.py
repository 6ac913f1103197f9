"""Transactions of rows, cut: selected, and written with their positions in a new log."""
