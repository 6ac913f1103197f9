"""Rows of Arrow arrays and JSON documents as VARIANT."""
