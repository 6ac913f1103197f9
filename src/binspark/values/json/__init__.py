"""MySQL's binary JSON: documents, partial updates, and the text that servers print."""
