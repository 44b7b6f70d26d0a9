"""The engine: one agent at work on one row, stepped, steered and interrupted."""
