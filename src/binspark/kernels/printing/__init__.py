"""Numbers, dates and times as text."""
