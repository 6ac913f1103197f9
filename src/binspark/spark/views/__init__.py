"""What rows of a DataFrame are: changes, a typed table, events, transactions, chunks, reports."""
