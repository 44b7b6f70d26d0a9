"""The Textual app: the only part that knows both the engine and the widgets."""
