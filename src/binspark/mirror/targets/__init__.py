"""Where tables are mirrored to: Delta or Iceberg tables."""
