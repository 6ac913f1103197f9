"""What on a server will hurt whoever reads its logs: each thing with its reason, and the statement that mends it.

>>> from binspark.server.connection import connect
>>> from binspark.server.config import connection_config
>>> from binspark.doctor.ask import ask
>>> from binspark.doctor.examine import examine
>>> with connect(connection_config(hosts="db1")) as connection:  # doctest: +SKIP
...     findings = examine(ask(connection))

module    what it holds
facts     what there is to know of a server: values only
ask       the same, asked of a server
rules     what hurts: one table, a rule a row
examine   findings out of facts, by the rules; no server is needed
page      the rules as a page of documentation
"""
