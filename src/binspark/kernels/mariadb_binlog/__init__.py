"""Events as the text of MariaDB's own tool, many at a time."""
