"""The models a session calls."""
