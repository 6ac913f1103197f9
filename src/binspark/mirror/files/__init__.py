"""The data files of mirrored tables, and how they are reached from any process."""
