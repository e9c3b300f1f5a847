"""From bytes to facts: where a model config comes from, and typed access to what it holds."""
