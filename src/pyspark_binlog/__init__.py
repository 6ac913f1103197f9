"""Registers the data source `binlog` with Spark, which imports every module whose name begins with `pyspark_`."""

from binspark.spark.source import BinlogDataSource as DefaultSource

__all__ = ["DefaultSource"]
