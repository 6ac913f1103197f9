"""The proof that a mirrored table equals its source: checksums of both sides, and the rows that differ."""
