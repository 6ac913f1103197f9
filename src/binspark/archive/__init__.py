"""The rim towards copies: a server's log files, byte for byte, as they are written.

module          what it holds
packets_kernel  the hot loop: packets of a replication stream into the bytes of a log
roles           what each type of event means for the transaction around it, as a table of bytes
runs            a stream as runs of bytes, many events at a time
follow_runs     the same for good, over lost connections
"""
