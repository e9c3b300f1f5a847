"""Rules, each with all that it says of itself."""
