"""agentscope: a step debugger for LLM agents, in the terminal.

This package is the extension API: what a user's own code may import.
"""

__version__ = "0.1.0"
__all__ = ["__version__"]
