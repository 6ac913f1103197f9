"""Decoded values as text: JSON lines, lines for people, the annotated bytes of an event."""
