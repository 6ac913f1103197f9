"""Dates and times, in every format in which servers have stored them."""
