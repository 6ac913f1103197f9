"""A server's log in bulk: runs of bytes instead of single events, for those who copy much or decode with kernels.

parts                    what each type of event means for the transaction around it, as tables of bytes
area, packet_buffer      packets that have come
unpacking, unpacker      events out of packets: plain_unpack at first, kernel_unpack once that pays
runs                     a stream as runs of bytes, many events at a time
follow_runs              the same for good, over lost connections
begun                    followers that begin with a connection that is there
outline, names           what is in a chunk of whole events, without decoding it
chunk_reader             chunks as a reader of files wants them
held_run, pieces         whole transactions, in pieces of any number of them
follow_pieces            the same for good
"""
