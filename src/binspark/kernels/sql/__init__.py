"""Kernels that write changed rows as SQL, and find the transactions that consist of rows alone."""
