"""For tests of programs that read binary logs.

binspark.testing.builder   `BinlogBuilder`: logs of any server version, built in memory or as files
binspark.testing.servers   real MySQL and MariaDB servers, fetched once and started for a test
"""
