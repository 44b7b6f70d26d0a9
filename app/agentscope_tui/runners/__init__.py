"""What runs the agent loop."""
