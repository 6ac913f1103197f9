"""How Spark finds the data source `binlog` by itself: it looks for modules whose names begin with `pyspark_`."""

from binspark.spark.source import BinlogDataSource as DefaultSource

__all__ = ["DefaultSource"]
