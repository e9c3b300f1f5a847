"""Tiny checkpoints, made of names and numbers alone: the same bytes on every machine, without a tensor library."""
