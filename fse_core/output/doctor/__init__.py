"""What the doctor found: one file a format."""
