"""Every byte of an event, with its name, its value and what it means."""
