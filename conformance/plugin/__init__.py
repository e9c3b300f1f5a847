"""The plugin inside real releases: what they load with it and without, release by release."""
