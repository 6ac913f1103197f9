"""`binspark restore` beside `mysqlbinlog | mysql`."""
