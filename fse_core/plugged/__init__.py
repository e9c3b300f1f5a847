"""What a release does that has the plugin beside it: the same engine makes the plan, in vLLM and for a check."""
