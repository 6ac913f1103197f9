"""The tables of a mirror while it runs: what each has, what is committed to it, and copies that are being made."""
