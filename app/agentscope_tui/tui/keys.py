"""The keys of the debugger screen: one table for bindings, footer and help.

Letters act where no text is typed; each act also has a key that works everywhere. Every binding has an id,
so that a keymap can change it.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding

PANES = ("rows", "session", "calls", "output")
"""The panes, in the order of the keys 1 to 4 and of the tabs of a narrow terminal."""


@dataclass(frozen=True)
class Key:
    """One act: its name and action, the letter, the key that works everywhere, a word and a sentence."""

    name: str
    letter: str
    everywhere: str
    word: str
    help: str
    show: bool = True
    action: str = ""

    @property
    def id(self) -> str:
        return f"debugger.{self.name}"


KEYS = (
    Key("step", "n", "f10", "step", "Let the waiting step go and stop after the next model call"),
    Key("step_fine", "N", "f11", "fine step", "As step, but also at each tool call and result", show=False),
    Key("continue", "c", "f5", "continue", "Run on without stopping, in this session"),
    Key("pause", "p", "f6", "pause", "Stop after the next model call"),
    Key("interrupt", "i", "f9", "interrupt", "Abort the turn now: model, tools and all they started"),
    Key("retry", "r", "f7", "retry", "Send the failed call again"),
    Key("refuse", "x", "f8", "refuse", "Refuse the waiting step, with a reason; give a failed call up"),
    Key("edit", "e", "f12", "edit", "Edit the waiting step before it goes on: reply, arguments or result"),
    Key("compose", "s", "f2", "message", "Write a message: a new turn, or a steer while the agent runs"),
    Key("help", "question_mark", "f1", "help", "This help"),
    Key("messages", "m", "f3", "messages", "All messages as they are sent to the model"),
    Key("tools", "t", "f4", "tools", "The tools with their full schemas"),
    Key("raw", "W", "alt+w", "raw call", "The chosen call as it went over the wire", show=False),
    Key("model", "M", "alt+m", "other model", "Send the calls from now on to another model", show=False),
    Key("runner", "L", "alt+l", "runner log", "What the runner is, and what it printed", show=False),
    Key("restart", "R", "alt+r", "restart", "Start the runner again, on the same transcript"),
    Key("back", "q", "ctrl+b", "rows", "Back to the rows; a running session may go on"),
    Key("rerun", "ctrl+r", "ctrl+r", "run again", "Run this row again from the start", show=False),
    *(
        Key(f"pane_{pane}", f"{number}", f"alt+{number}", pane, f"To the {pane}", False, f"pane('{pane}')")
        for number, pane in enumerate(PANES, start=1)
    ),
    Key("quit", "ctrl+q", "ctrl+q", "quit", "Quit agentscope", show=False),
)


def bindings() -> list[Binding]:
    """The table as Textual bindings; both keys of an act share its id."""
    return [
        Binding(
            key.letter if key.letter == key.everywhere else f"{key.letter},{key.everywhere}",
            key.action or key.name,
            key.word,
            show=key.show,
            id=key.id,
            tooltip=key.help,
            key_display="?" if key.letter == "question_mark" else key.letter,
        )
        for key in KEYS
    ]
