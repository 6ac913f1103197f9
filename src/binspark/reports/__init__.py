"""A log as one page: what was written when, by which tables, in which transactions, and what is wrong with it.

>>> import binspark
>>> found = binspark.report("logs/")  # doctest: +SKIP
>>> found.write_html("report.html")  # doctest: +SKIP

module      what it defines
timeline    counts over time, in bounded memory whatever the range
hot_rows    the rows that change most often, by their key
activity    what is counted of transactions, by kernels
durations   how long transactions took, from the times of their events
hints       rules of `binspark doctor` that a log shows
collect     all of it, for one or more logs
numbers     what was counted
as_json     the same as JSON
figures     what loads matplotlib
plots       pictures of it, as SVG
page        the page in HTML
result      a report, as users have it
"""

from binspark.reports.collect import collect_report, report
from binspark.reports.result import Report

__all__ = ["Report", "collect_report", "report"]
