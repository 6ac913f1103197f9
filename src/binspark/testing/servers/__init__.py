"""Real MySQL and MariaDB servers for tests: fetched once, started without privileges on loopback, stopped at the end.

>>> from binspark.testing.servers import MySQL, start
>>> with start(MySQL, options={"binlog-row-metadata": "FULL"}) as server:  # doctest: +SKIP
...     server.run_sql("CREATE DATABASE shop; CREATE TABLE shop.t (a INT); INSERT INTO shop.t VALUES (1)")
...     server.log_files()

A server on the PATH is used if it is of the right family; otherwise Debian's packages are unpacked into a cache folder
(`$BINSPARK_CACHE`, else `$XDG_CACHE_HOME/binspark`, else `~/.cache/binspark`). Nothing is installed, and root is not
needed. `python -m binspark.testing.servers` fetches both in advance. Where a server cannot be started, `start` raises
`ServerUnavailable`, so that a test can be skipped:

>>> @pytest.fixture(scope="session")  # doctest: +SKIP
... def mysql():
...     try:
...         with start(MySQL) as server:
...             yield server
...     except ServerUnavailable as error:
...         pytest.skip(str(error))
"""

from binspark.testing.servers.errors import ServerUnavailable, SqlFailed
from binspark.testing.servers.families import Family, MariaDB, MySQL
from binspark.testing.servers.server import Server, start

__all__ = ["Family", "MariaDB", "MySQL", "Server", "ServerUnavailable", "SqlFailed", "start"]
