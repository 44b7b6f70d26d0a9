"""The tools a session offers, and the processes they run in."""
