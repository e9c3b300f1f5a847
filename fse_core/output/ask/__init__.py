"""What an installed vLLM was asked: one file a format."""
