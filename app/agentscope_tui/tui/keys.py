"""The keys of the debugger screen: one table for bindings, footer, help and command palette.

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
    """One act: its name and action, the letter, the key that works everywhere, a word and a sentence.

    Without a letter the one key works everywhere but where a text box has its own use for it.
    """

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

    @property
    def keys(self) -> str:
        """All its keys, as Textual writes them."""
        return ",".join(dict.fromkeys(key for key in (self.letter, self.everywhere) if key))

    @property
    def binding(self) -> Binding:
        action = self.action or self.name
        return Binding(self.keys, action, self.word, show=self.show, id=self.id, tooltip=self.help)


KEYS = {
    "Running the agent": (
        Key("step", "n", "f10", "step", "Let the waiting step go and stop after the next model call"),
        Key("step_fine", "N", "f11", "fine step", "As step, but also at each tool call and result", False),
        Key("continue", "c", "f5", "continue", "Run on without stopping, in this session"),
        Key("pause", "p", "f6", "pause", "Stop after the next model call"),
        Key("leave", "", "escape", "interrupt", "Close what lies on top, leave a text box; else interrupt"),
        Key("interrupt", "i", "f9", "interrupt", "Abort the turn now: model, tools and all they started"),
        Key("retry", "r", "f7", "retry", "Send the failed call again"),
        Key("edit", "e", "f12", "edit", "Edit what waits before it goes on: reply, arguments or result"),
        Key("refuse", "x", "f8", "refuse", "Refuse the waiting step, with a reason; give a failed call up"),
        Key("compose", "s", "f2", "message", "Write a message: a new turn, or a steer while the agent runs"),
        Key("write", "", "enter", "message", "Write a message", False, "compose"),
        Key("model", "M", "alt+m", "other model", "Send the calls from now on to another model", False),
        Key("fork", "f", "alt+f", "fork", "Go on from the chosen entry otherwise, in a session of its own"),
        Key("score", "dollar_sign", "alt+s", "score now", "Grade a copy of what is there; or stop it", False),
        Key("restart", "R", "alt+r", "go on", "Take up a recording, or a session whose runner died, live"),
        Key("rerun", "", "ctrl+r", "run again", "Run this row again from the start", False),
    ),
    "Looking": (
        Key("messages", "m", "f3", "messages", "All messages as they are sent to the model"),
        Key("tools", "t", "f4", "tools", "The tools with their full schemas"),
        Key("raw", "W", "alt+w", "raw call", "The chosen call as it went over the wire", False),
        Key("runner", "L", "alt+l", "runner log", "What the runner is, and what it printed", False),
        Key("sessions", "h", "ctrl+o", "sessions", "The recorded sessions of the row, the dataset, or all"),
        Key("runs", "u", "alt+u", "runs", "The runs of this dataset; how far one is", False),
        Key("compare", "D", "alt+d", "compare", "Compare with what it goes on from, or others", False),
        Key("back", "q", "ctrl+b", "rows", "Back to the rows; a running session may go on"),
    ),
    "In a recording": (
        Key("back_call", "b", "shift+f10", "back", "Back to the end of the model call before"),
        Key("back_event", "B", "shift+f11", "event back", "Back by one event", False),
        Key("next_error", "exclamation_mark", "shift+f9", "error", "To the next error, or the first"),
        Key("faster", "plus", "shift+f7", "faster", "Play faster", False),
        Key("slower", "minus", "shift+f6", "slower", "Play slower", False),
        Key("go_first", "comma", "ctrl+home", "start", "To the start of the recording", False),
        Key("go_last", "full_stop", "ctrl+end", "end", "To the end of the recording", False),
        Key("go_here", "equals_sign", "shift+f12", "here", "To the end of the chosen call", False),
    ),
    "Panes": (
        *(
            Key(
                f"pane_{pane}", f"{number}", f"alt+{number}", pane, f"To the {pane}", False, f"pane('{pane}')"
            )
            for number, pane in enumerate(PANES, start=1)
        ),
        Key("zoom", "z", "alt+z", "zoom", "This pane alone, or all of them again", False),
        Key("hide", "H", "alt+h", "hide", "Hide this pane while you are elsewhere, or keep it again", False),
        Key("border_left", "", "ctrl+left,alt+left", "border ←", "Move the pane's border left", False),
        Key("border_right", "", "ctrl+right,alt+right", "border →", "Move the pane's border right", False),
        Key("border_up", "", "ctrl+up,alt+up", "border ↑", "Move the pane's border up", False),
        Key("border_down", "", "ctrl+down,alt+down", "border ↓", "Move the pane's border down", False),
        Key("all_panes", "0", "alt+0", "all panes", "All panes, as large as at first", False),
    ),
    "agentscope": (
        Key("palette", "", "ctrl+p", "palette", "Find any action, row or session by name", False),
        Key("help", "question_mark", "f1", "help", "This help"),
        Key("quit", "", "ctrl+q", "quit", "Quit agentscope", False),
    ),
}
"""The acts, by what they are for."""


def bindings() -> list[Binding]:
    """The table as Textual bindings."""
    return [key.binding for keys in KEYS.values() for key in keys]
