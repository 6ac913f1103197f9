"""The hot loops: Python that Numba compiles, and the arrays of numbers that it shares with its callers.

Callers use these modules; the others are for kernels alone, which an import contract checks.

cache          the switch for keeping compiled kernels on disk
compiler       how kernels are compiled, kept and called
layout         the numbers that decoding rows shares with `columns`
scan           events into columns
table_maps     which table an id means
text_writers   values that become text while rows are decoded
starts, walk   where transactions begin; from header to header
event_list     events into columns of numbers, transaction_list: transactions; `list_layout` has the numbers
event_filter   which of the listed events are selected
parallelism    how many transactions a replica could apply at the same time
row_counts     how many rows an event has
sessions       names of schemas that a kernel knows
packets        packets of a replication stream into the bytes of a log, `packet_layout` the numbers for that
pack           the bytes of a log into packets of a replication stream
cut            transactions into a new log; `cut_layout` has the numbers
result_rows    rows of a result set into row images as the log has them
crc32          checksums
digests        digests of texts, to compare rows
dump           events of MariaDB as the text of mariadb-binlog; base64
mysqlbinlog    events of MySQL as the text of mysqlbinlog; `layout` and `texts` have the numbers and texts
objects        rows of Arrow arrays as JSON text, and lines made of them
variant        rows and documents as VARIANT
"""
