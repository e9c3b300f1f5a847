"""Two reports compared: one file a format."""
