"""Verify logs: nothing damaged, nothing missing, nothing twice.

>>> from binspark.verify import verify_logs
>>> report = verify_logs("/var/lib/mysql/binlog.index")  # doctest: +SKIP
>>> report.ok, [finding.message for finding in report.findings]  # doctest: +SKIP
(True, [])
"""

from binspark.verify.chain import verify_files, verify_logs
from binspark.verify.findings import ADVICE, Code, Finding, Severity
from binspark.verify.report import Extent, FileReport, Report, Summary, Verdict

__all__ = [
    "ADVICE",
    "Code",
    "Extent",
    "FileReport",
    "Finding",
    "Report",
    "Severity",
    "Summary",
    "Verdict",
    "verify_files",
    "verify_logs",
]
