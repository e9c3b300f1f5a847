"""Known releases: one file a format."""
