"""MySQL's and MariaDB's binary log, read as Spark tables."""

__version__ = "0.1.0"
