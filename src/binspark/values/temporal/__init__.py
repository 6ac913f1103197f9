"""Dates and times, in every layout that servers have stored them in."""
