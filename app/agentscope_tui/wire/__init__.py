"""Frames and the channels that carry them between host and runner."""
