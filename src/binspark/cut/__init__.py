"""A new log out of logs: only some transactions, tables or rows of them, valid for servers and their tools."""

from binspark.cut.run import CutOptions, CutSummary, cut_logs

__all__ = ["CutOptions", "CutSummary", "cut_logs"]
