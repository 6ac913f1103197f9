"""The command `binspark`; the only package that prints."""
