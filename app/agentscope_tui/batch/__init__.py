"""Rows without a screen."""
