"""Calling the user back to a terminal that has not the focus: a desktop notification and the bell."""

from __future__ import annotations

from collections.abc import Mapping

from agentscope_tui.session.state import SessionState
from agentscope_tui.settings import Notify

BELL = "\a"
_TITLE = "agentscope"
_OSC_9 = ("iTerm.app", "WezTerm", "ghostty", "WarpTerminal")
_OSC_777 = ("foot", "rxvt", "contour")


def standing(state: SessionState) -> str:
    """How a session stands, as far as it matters to somebody who is elsewhere; empty while it works."""
    if state.holds:
        return f"paused after call #{state.holds[0].call}"
    match state.status:
        case "starting" | "running" | "interrupting":
            return ""
        case "idle":
            return state.outcome or ""
        case "ended" | "failed":
            return f"session {state.status}"


class Attention:
    """What makes the terminal call the user, as the setting and the terminal allow."""

    def __init__(self, notify: Notify, environ: Mapping[str, str]) -> None:
        self._notify = notify
        self._environ = environ

    def call(self, news: str) -> str:
        """What to write to the terminal; `news` are words of our own, for they go there as they are."""
        if self._notify == "off":
            return ""
        return (notification(news, self._environ) if self._notify == "desktop" else "") + BELL


def notification(text: str, environ: Mapping[str, str]) -> str:
    """The escape sequence for a desktop notification in this terminal; empty where it knows none."""
    program, term = environ.get("TERM_PROGRAM", ""), environ.get("TERM", "")
    if "KITTY_WINDOW_ID" in environ or "kitty" in term:
        return f"\x1b]99;i=agentscope:d=0;{_TITLE}\x1b\\\x1b]99;i=agentscope:d=1:p=body;{text}\x1b\\"
    if "TMUX" in environ or "STY" in environ:
        return ""
    if program in _OSC_9 or "ghostty" in term:
        return f"\x1b]9;{_TITLE}: {text}\x1b\\"
    if "VTE_VERSION" in environ or term.startswith(_OSC_777):
        return f"\x1b]777;notify;{_TITLE};{text}\x1b\\"
    return ""
