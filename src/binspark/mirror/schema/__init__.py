"""The schemas of mirrored tables: in the source, in the target, and what ALTER TABLE changes in both."""
