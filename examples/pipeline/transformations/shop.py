"""Changes of a shop's orders as a streaming table, and how many of them there are as a view on it."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

spark = SparkSession.active()
LOGS = spark.conf.get("binspark.logs")


@dp.table(name="order_changes")
def order_changes() -> DataFrame:
    return (
        spark.readStream.format("binlog")
        .option("table", "shop.orders")
        .option("startingOffsets", "earliest")
        .option("schemaEvolution", "restart")
        .load(LOGS)
    )


@dp.materialized_view(name="orders_by_operation")
def orders_by_operation() -> DataFrame:
    return spark.read.table("order_changes").groupBy("_op").agg(F.count("*").alias("rows"))
