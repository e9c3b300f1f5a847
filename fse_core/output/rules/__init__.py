"""The rules, one line each."""
