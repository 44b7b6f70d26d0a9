"""Files of other tools, opened as sessions: what they tell becomes the events of a session that is over."""

from agentscope_tui.store.imports.opening import open_trajectories
from agentscope_tui.store.imports.trajectories import Summary, Trajectories

__all__ = ["Summary", "Trajectories", "open_trajectories"]
