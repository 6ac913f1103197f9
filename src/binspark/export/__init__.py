"""Changed rows as Parquet files, one directory per table; all of them, or none."""

from binspark.export.run import Export, ExportOptions, TableSummary

__all__ = ["Export", "ExportOptions", "TableSummary"]
