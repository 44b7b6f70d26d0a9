"""An HTTP endpoint on this machine that looks like a model provider to any program."""
