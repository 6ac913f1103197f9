"""Helpers of the tests of `mirror`."""
