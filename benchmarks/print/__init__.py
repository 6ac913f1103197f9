"""How fast rows are printed, and made into objects."""
