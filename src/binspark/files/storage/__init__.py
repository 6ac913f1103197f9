"""Storage systems of logs: this machine, and whatever pyarrow or fsspec reads (`s3://`, `gs://`, `hdfs://`, …)."""

from binspark.files.storage.options import NO_OPTIONS, Option, Storage

__all__ = ["NO_OPTIONS", "Option", "Storage"]
