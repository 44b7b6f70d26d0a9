"""The screen's panes: which are in sight, how large they are, and the keys that change it."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.events import DescendantFocus, Resize
from textual.reactive import var
from textual.widget import Widget
from textual.widgets import Static, Tab, Tabs

from agentscope_tui.tui.keys import PANES
from agentscope_tui.tui.remembered import Remembered
from agentscope_tui.tui.screens.going_on import GoingOn
from agentscope_tui.tui.workspace import Workspace
from agentscope_widgets.composer import Composer
from agentscope_widgets.split import Axis, Split, splits_around

MIN_SIZE = (60, 16)
WIDE, HIGH = 110, 30
"""Columns from which on the panes stand side by side, and lines below which the message box stays low."""
SHARES = {"rows-pane": 30.0, "session-pane": 42.0, "work": 28.0, "calls-pane": 40.0, "output-pane": 60.0}
"""How the room is shared at first: columns, and the two panes of the column `work`."""
STEP: dict[Axis, int] = {"x": 4, "y": 2}
"""Cells that a key moves a border."""


class PaneScreen(GoingOn):
    """A session's screen whose panes are arranged by the user; how, is remembered.

    A hidden pane is in sight only while it has the focus. In a narrow terminal, or zoomed, the pane with the
    focus has all the room, and tabs show the others.
    """

    pane: var[str] = var("rows")
    """The pane with the focus."""
    zoomed: var[bool] = var(False)

    def __init__(self, workspace: Workspace, remembered: Remembered) -> None:
        super().__init__(workspace)
        self._remembered = remembered
        kept = remembered.read()
        self.shares = SHARES | _numbers(kept.get("shares"))
        self._hidden = _names(kept.get("hidden"))

    def arranged(self, rows: Widget, session: Widget, calls: Widget, output: Widget) -> ComposeResult:
        """The four panes, and what stands in for them in a terminal that is too small."""
        yield Static(id="too-small")
        titles = {name: f"{number} {name.capitalize()}" for number, name in enumerate(PANES, start=1)}
        yield Tabs(*(Tab(title, id=f"tab-{name}") for name, title in titles.items()), id="tabs")
        with Split("x", _part(self.shares, "rows-pane", "session-pane", "work"), id="panes"):
            yield rows
            yield session
            with Split("y", _part(self.shares, "calls-pane", "output-pane"), id="work"):
                yield calls
                yield output

    def on_mount(self) -> None:
        self.query_one("#tabs", Tabs).can_focus = False
        self._arrange()

    def go_to(self, widget: str) -> None:
        """Give the keys to this widget, and show its pane."""
        target = self.query_one(f"#{widget}", Widget)
        self.pane = _pane_of(target) or self.pane
        # `widget.focus()` waits its turn: what is typed meanwhile would be keys of the pane that was left.
        self.set_focus(target)

    def action_pane(self, pane: str) -> None:
        self.go_to("transcript" if pane == "session" else pane)

    def action_zoom(self) -> None:
        self.zoomed = not self.zoomed

    def action_hide(self) -> None:
        """Hide the pane with the focus and go on to the next; a pane that is hidden is kept again."""
        self._hidden ^= {self.pane}
        self._remember()
        if self.pane in self._hidden:
            self.action_pane("session" if "session" not in self._hidden else self._kept()[0])
        self._arrange()

    def action_all_panes(self) -> None:
        self.zoomed = False
        self._hidden = frozenset()
        for split in self.query(Split):
            split.share_out(SHARES)
        self._remember()
        self._arrange()

    def action_border_left(self) -> None:
        self._move_border("x", -1)

    def action_border_right(self) -> None:
        self._move_border("x", 1)

    def action_border_up(self) -> None:
        self._move_border("y", -1)

    def action_border_down(self) -> None:
        self._move_border("y", 1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "border_left" | "border_right" | "border_up" | "border_down" | "all_panes":
                return not self._narrow
            case "hide":
                return not self._alone and bool(set(self._kept()) - {self.pane})
            case "zoom":
                return not self._narrow
            case "compose" if isinstance(self.focused, Composer):
                return False
            case _:
                return super().check_action(action, parameters)

    def on_resize(self, event: Resize) -> None:
        width, height = event.size
        small = width < MIN_SIZE[0] or height < MIN_SIZE[1]
        self.set_class(small, "-too-small")
        self.set_class(height < HIGH, "-low")
        self.query_one("#too-small", Static).update(
            f"The terminal is too small: {width}×{height}.\nagentscope needs {MIN_SIZE[0]}×{MIN_SIZE[1]}."
        )
        self._arrange()

    def watch_zoomed(self) -> None:
        self._arrange()

    def watch_pane(self, pane: str) -> None:
        self._arrange()
        tabs = self.query_one("#tabs", Tabs)
        # The message would come when the focus may long be elsewhere.
        with tabs.prevent(Tabs.TabActivated):
            tabs.active = f"tab-{pane}"

    @property
    def _narrow(self) -> bool:
        return self.size.width < WIDE

    @property
    def _alone(self) -> bool:
        return self._narrow or self.zoomed

    def _kept(self) -> list[str]:
        return [name for name in PANES if name not in self._hidden]

    def _arrange(self) -> None:
        """Show the panes that are to be in sight."""
        shown = {self.pane} if self._alone else {*self._kept(), self.pane}
        for name in PANES:
            self.query_one(f"#{name}-pane").set_class(name not in shown, "-away")
        self.query_one("#work").set_class(not shown & {"calls", "output"}, "-away")
        self.set_class(self._alone, "-alone")
        self.refresh_bindings()

    def _move_border(self, axis: Axis, direction: int) -> None:
        inside = self.query_one(f"#{self.pane}-pane")
        for split in splits_around(inside, axis):
            if split.move_border(inside, direction * STEP[axis]):
                return

    def _remember(self) -> None:
        self.shares = {name: share for split in self.query(Split) for name, share in split.shares.items()}
        self._remembered.write({"shares": self.shares, "hidden": sorted(self._hidden)})

    @on(Split.BorderMoved)
    def _border_moved(self) -> None:
        self._remember()

    @on(DescendantFocus)
    def _focus_moved(self, event: DescendantFocus) -> None:
        self.pane = _pane_of(event.widget) or self.pane

    @on(Tabs.TabActivated)
    def _tab_activated(self, event: Tabs.TabActivated) -> None:
        self.action_pane(str(event.tab.id).removeprefix("tab-"))


def _part(shares: dict[str, float], *names: str) -> dict[str, float]:
    return {name: shares[name] for name in names}


def _pane_of(widget: Widget) -> str | None:
    """The name of the pane that a widget is in."""
    ids = {node.id for node in widget.ancestors_with_self}
    return next((name for name in PANES if f"{name}-pane" in ids), None)


def _numbers(kept: object) -> dict[str, float]:
    """The shares that a file of an earlier run has, as far as they make sense."""
    if not isinstance(kept, dict):
        return {}
    return {
        name: float(share)
        for name, share in kept.items()
        if name in SHARES and isinstance(share, int | float) and 1 <= share <= 10_000
    }


def _names(kept: object) -> frozenset[str]:
    names = {name for name in kept if name in PANES} if isinstance(kept, Iterable) else set()
    return frozenset(names) if len(names) < len(PANES) else frozenset()
