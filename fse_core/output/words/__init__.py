"""What the formats for people share."""
