"""Logs as a page in the browser: an index made by kernels, pages read on demand, and a server on this machine only."""
