"""Connections to MySQL and MariaDB servers.

config      where the server is and who connects: from arguments, option files, the environment, a prompt
connection  a connection, and the server's errors as binspark's
errors      what a server's error means, and what to do about it
info        what a server reports of itself: which one it is, its logs, its GTIDs
retry       connecting again after a connection was lost
"""
