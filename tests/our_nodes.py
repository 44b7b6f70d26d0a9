"""All widgets, screens and apps of ours, and the keymap that their bindings make.

`python tests/our_nodes.py` writes that keymap to configs/keymaps/default.yaml.
"""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from textual.binding import Binding
from textual.dom import DOMNode

import agentscope_tui.tui
import agentscope_widgets

DEFAULT_KEYMAP = Path(__file__).parents[1] / "configs" / "keymaps" / "default.yaml"
HEADER = """\
# Every act and its keys: made from the code, for keymaps of your own to start from.
#
# A keymap of yours is a file `keymaps/NAME.yaml` in your config folder, chosen by `ui.keymap: NAME`.
# It has the same form and only what differs: all keys of an act, with commas between. A key is a character, a
# name (f5, pageup, question_mark) or either with a modifier (ctrl+s, shift+f5); `g g` is two keys in a row.
"""


def nodes() -> list[type[DOMNode]]:
    """Every widget, screen and app of ours."""
    found: dict[type[DOMNode], None] = {}
    for package in (agentscope_tui.tui, agentscope_widgets):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            members = inspect.getmembers(import_module(module.name), inspect.isclass)
            found |= {cls: None for _, cls in members if issubclass(cls, DOMNode)}
    return [cls for cls in found if cls.__module__.startswith("agentscope_")]


def bound() -> dict[str, tuple[str, str]]:
    """Keys and tooltip of every binding of ours, by its id."""
    return {
        binding.id: (", ".join(binding.key.split(",")), binding.tooltip)
        for cls in nodes()
        for binding in cls.__dict__.get("BINDINGS", ())
        if isinstance(binding, Binding) and binding.id
    }


def default_keymap() -> str:
    """What configs/keymaps/default.yaml says."""
    sections: dict[str, list[str]] = {}
    for name, (keys, tooltip) in bound().items():
        section, _, act = name.partition(".")
        keys = keys if re.fullmatch(r"[\w+, ]+", keys) else json.dumps(keys)
        sections.setdefault(section, []).append(f"  {act}: {keys}  # {tooltip}\n")
    first = ("app", "debugger")
    order = [*first, *sorted(set(sections) - set(first))]
    return HEADER + "".join(f"\n{section}:\n{''.join(sections[section])}" for section in order)


if __name__ == "__main__":
    DEFAULT_KEYMAP.write_text(default_keymap(), encoding="utf-8")
