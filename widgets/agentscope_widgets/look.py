"""How the panes look: the styles of their parts, resolved from CSS component classes.

A pane names parts (`muted`, `heading`, `code_string` …), the style sheet gives each a colour from the
theme, and what is cached is drawn anew only when one of them really changed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from rich.style import Style
from textual.widget import Widget

Tone = Literal["normal", "muted", "primary", "accent", "success", "warning", "error"]
"""What a text is, in one word; the theme says how that looks."""


@dataclass(frozen=True, slots=True)
class Look:
    """One Rich style for each part; without a background where the pane's own shall show."""

    normal: Style
    muted: Style
    primary: Style
    accent: Style
    success: Style
    warning: Style
    error: Style
    strong: Style
    cursor: Style
    header: Style
    badge: Style
    selection: Style
    match: Style
    match_current: Style
    caret: Style
    heading: Style
    link: Style
    quote: Style
    code: Style
    code_block: Style
    code_keyword: Style
    code_name: Style
    code_string: Style
    code_number: Style
    code_comment: Style

    def tone(self, tone: Tone) -> Style:
        """The style of a tone."""
        style: Style = getattr(self, tone)
        return style


def part(name: str) -> str:
    """The component class of a part: `code_string` is `look--code-string`."""
    return "look--" + name.replace("_", "-")


LOOK_CLASSES = {part(field.name) for field in fields(Look)}
"""Component classes that a pane with a `Look` declares."""

PLAIN = Look(**{field.name: Style.null() for field in fields(Look)})
"""No style at all."""

LOOK_PROBE = part("normal")
"""The part whose styles are asked for to see whether any may have changed."""


def resolve_look(widget: Widget) -> Look:
    """The look that the style sheet gives `widget` now."""
    return Look(**{field.name: _part_style(widget, part(field.name)) for field in fields(Look)})


def _part_style(widget: Widget, name: str) -> Style:
    """The style of a part, with colours only where the style sheet sets them, blended with the ground."""
    rules = widget.get_component_styles(name)
    # Not `get_component_rich_style`: its cache outlives a change of focus that changes only parts.
    style = rules.rich_style
    drawn = Style(
        color=style.color if rules.has_rule("color") else None,
        bgcolor=style.bgcolor if rules.has_rule("background") else None,
    )
    return drawn + rules.text_style if rules.has_rule("text_style") else drawn
