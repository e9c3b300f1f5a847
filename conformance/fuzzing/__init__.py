"""Draws questions at random: real-shaped configs and what people, and mistakes, do to their quantization blocks."""
