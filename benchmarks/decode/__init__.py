"""How fast logs become columns, beside the readers that others use."""
