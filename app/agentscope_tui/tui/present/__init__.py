"""Session state as plain values for the widgets: pure functions, no screen needed."""
