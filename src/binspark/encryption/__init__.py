"""Encrypted logs in clear: the keys of a keyring, and the two ways in which servers encrypt what they log.

Everything here turns bytes into bytes; `binspark.files` reads the files. `cryptography` has the ciphers, and is
imported only for logs that are encrypted.
"""
