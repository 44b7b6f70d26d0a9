"""Panes that any Textual app could use: they know text, rows and calls, never sessions."""
