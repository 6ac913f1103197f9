"""The data source `binlog`: logs as Spark tables, in batch and as a stream."""
