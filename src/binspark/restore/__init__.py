"""Point-in-time recovery: which transactions of an archive a server lacks up to a point, and their application."""
