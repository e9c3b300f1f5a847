"""What an installation was recognised as: one file a format."""
