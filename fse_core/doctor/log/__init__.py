"""Reads a vLLM log of any size, once and in bounded memory, and says what it tells of fused shared experts."""
