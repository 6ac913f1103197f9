"""The command `binspark`; the only place that prints."""
