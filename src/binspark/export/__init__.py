"""Logs into Parquet: one folder a table, whole or not at all."""

from binspark.export.run import Export, ExportOptions, TableSummary

__all__ = ["Export", "ExportOptions", "TableSummary"]
