"""Problems that readers of a server's logs will have: each with its reason, and the statement that fixes it.

>>> import binspark
>>> from binspark.doctor.read_profile import read_profile
>>> from binspark.doctor.rules import find_problems
>>> with binspark.connect(host="db1") as connection:  # doctest: +SKIP
...     findings = find_problems(read_profile(connection))

module          what it defines
server_profile  what the rules look at: settings, privileges, tables; values only
read_profile    the same, read from a server
rule            what a rule consists of: checks and fixes
rules           the rules, one table; findings for a profile
page            the rules as a page of documentation
"""
