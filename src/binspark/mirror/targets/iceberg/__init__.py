"""Tables in a catalog of Iceberg tables, by pyiceberg."""
