"""Transactions that `verify` has nothing to report of, found many at a time."""
