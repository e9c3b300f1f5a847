"""Asks a real vLLM release what it does, holds its recorded answers, and compares them with ours. Not shipped."""
