"""Rows of logs as columns: Arrow record batches, decoded by kernels, and by the reference where they cannot."""
