"""Files of rows, and the task that a row becomes."""
