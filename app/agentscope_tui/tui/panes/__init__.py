"""The panes of the debugger screen that know datasets and sessions: they wire widgets to the engine."""
