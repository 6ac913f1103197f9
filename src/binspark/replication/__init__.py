"""A server's binary logs over its replication protocol.

>>> from binspark.replication.follow import follow
>>> from binspark.server.config import connection_config
>>> for chunk in follow(connection_config(host="db1,db2"), "latest"):  # doctest: +SKIP
...     print(chunk.end_position, [event.type for event in chunk.events()])

Values
position           `BinlogPosition`: what offsets, checkpoints and stops are made of
start, stop        where to start and to stop, and their text
settings           how a stream is requested and followed
gtids              GTIDs of both families
chunk              `LogChunk`: consecutive bytes of one log
transaction_index  the transactions in them, found without decoding

One connection
commands, packets  the protocol, as values and as bytes
channel            owns the socket; packets one by one, or many at a time
unpack             many packets into the bytes of a log
event_positions    where events are in the server's logs
stream, dump       a stream of events, and how it is requested
resume             continuing a stream over another connection, if the logs are the same

Following
sources            the chunks of one stream: in bulk, or event by event
buffer             bytes of a transaction that is not complete yet
progress           the position after what was delivered
find               where a start or a stop is on a server
follow             `Follower`: all of it, over lost connections
schema_at          what a server reports of its tables, as far as it was true at a position
"""
