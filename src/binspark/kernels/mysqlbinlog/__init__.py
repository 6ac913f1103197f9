"""Events of MySQL's logs as the text that mysqlbinlog prints: base64, rows as comments, and the events around them."""
