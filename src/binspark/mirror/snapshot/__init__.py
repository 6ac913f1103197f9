"""The rows of tables as they are on a server: copied in chunks, by key, with the values that the log would have."""
