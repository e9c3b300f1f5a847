"""Runs inside the release's environment: a server that builds models on torch's meta device and says what was decided.

Only `ask` belongs to our own side: it starts the server and talks to it.
"""
