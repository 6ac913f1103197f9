"""Helpers for tests of the mirror."""
