"""Tables in a directory of Delta tables, by delta-rs."""
