"""Serving an archive, beside the server that wrote its logs."""
