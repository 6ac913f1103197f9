"""Record the logs that are part of the package: one day of a small shop, on both servers."""
