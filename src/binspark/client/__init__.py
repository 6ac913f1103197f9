"""The rim towards servers: the replication protocol on PyMySQL's connection.

>>> from binspark.client.gather import connection_options
>>> from binspark.client.follow import follow
>>> options = connection_options(hosts="db1,db2", defaults_file="~/.my.cnf")  # doctest: +SKIP
>>> for group in follow(options, "latest"):  # doctest: +SKIP
...     print(group.resume, [event.type for event in group.events()])

module        what it holds
options       where the server is and who asks: values only
gather        the same out of arguments, an option file, the environment, a prompt
connect       a connection, and the server's errors as binspark's
facts         what a server says of itself: version, logs, GTIDs, settings
asking        questions to a server over a connection that is kept
checks        what must hold on a server before it is read
commands      the commands of the protocol, as values and as bytes
settings      how a stream is asked for, and how it is followed
start         where to start, and its text; `resolve` finds it on a server
until         where to end
resume        where to go on, a value to be stored
dump, stream  one connection's events as they come
description   the format description as a server sends it, against that of its file
follow        whole transactions for good: over lost connections and to other servers
follow_files  the bytes of a server's files for good, for a copy of them
bulk          the same two in bulk: runs of bytes instead of single events
"""
