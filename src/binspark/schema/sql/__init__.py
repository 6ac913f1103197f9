"""The part of SQL that defines tables: tokens, types, columns, keys, statements."""
