"""Records the logs that ship with the package: a day in a small shop, on both servers."""
