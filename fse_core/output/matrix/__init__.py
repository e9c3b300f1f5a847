"""A matrix: one file a format."""
