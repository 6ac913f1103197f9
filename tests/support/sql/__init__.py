"""Scripts that real servers run."""
