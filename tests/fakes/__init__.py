"""Stand-ins for what unit tests of the engine cannot use for real."""
