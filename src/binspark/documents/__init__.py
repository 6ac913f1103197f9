"""Arrow batches as documents: rows as JSON or VARIANT, and columns of one schema as columns of another."""
