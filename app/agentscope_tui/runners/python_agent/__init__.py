"""The process that a user's Python agent runs in: started by path with the user's interpreter.

Standard library only, Python 3.9 or newer, and nothing of agentscope is imported: `start.py` loads this
folder as a package of its own name, so that no name of it can stand in the way of the user's modules.
"""
