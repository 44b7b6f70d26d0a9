"""Keymaps: which keys each act has, from `configs/keymaps/` or a file of the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path

from textual.binding import Binding
from textual.keys import Keys, format_key

from agentscope_tui.errors import UsageError
from agentscope_tui.folders import user_config_file
from agentscope_tui.resources import keymaps_dir
from agentscope_tui.yaml_file import read_settings_file

DEFAULT = "default"
TOGETHER: tuple[tuple[str, ...], ...] = (
    ("app", "debugger", "rows"),
    ("app", "debugger", "row", "blocks", "view"),
    ("app", "debugger", "transcript", "blocks", "text", "view"),
    ("app", "debugger", "output", "text", "view"),
    ("app", "debugger", "calls"),
    ("app", "debugger", "steers"),
    ("app", "debugger", "composer"),
    ("app", "debugger", "prompt"),
    ("app", "detail", "messages", "blocks", "text", "view"),
    ("app", "detail", "diff", "compare", "blocks", "text", "view"),
    ("app", "sessions", "rows"),
    ("app", "rollouts", "rows"),
    ("app", "runs", "rows"),
    ("app", "run_start"),
    ("app", "columns"),
    ("app", "edit"),
    ("app", "fork"),
    ("app", "confirm"),
)
"""The sections whose keys act at the same time: a key in two of them would be one act or the other."""

_MODIFIERS = {"ctrl", "alt", "shift", "super", "meta", "hyper"}
_NAMES = {key.value.rpartition("+")[2] for key in Keys} - {"<any>", "<ignore>"}


@dataclass(frozen=True)
class Keymap:
    """The keys of every act, by id, and those that differ from the default.

    A key is as Textual names it (`question_mark`), or two of them with a blank between: `g g`.
    """

    keys: Mapping[str, tuple[str, ...]]
    changed: Mapping[str, tuple[str, ...]]

    @property
    def overrides(self) -> dict[str, str]:
        """What differs, as `App.set_keymap` takes it."""
        return {name: ",".join(keys) for name, keys in self.changed.items()}

    @property
    def sequences(self) -> frozenset[str]:
        """The keys that are two."""
        return frozenset(key for keys in self.changed.values() for key in keys if " " in key)


def load_keymap(name: str) -> Keymap:
    """The keymap called `name`: built in, one in the folder `keymaps` of the config folder, or a file.

    Raises:
        UsageError: there is none, or it names an act or a key that does not exist, or one key for two acts.
    """
    default = _read(keymaps_dir() / f"{DEFAULT}.yaml", None)
    if name == DEFAULT:
        return Keymap(default, {})
    file = _find(name)
    changed = _read(file, default)
    keys = {**default, **changed}
    # A pane may have a key of the screen's for itself: then whatever act of the screen has it.
    taken = {(key, act) for key, *acts in _shared(default) for act in acts if not act.startswith("debugger.")}
    for key, one, other in sorted(_shared(keys)):
        if not {(key, one), (key, other)} & taken:
            raise UsageError(f"{file}: {key!r} would be both {one} and {other}: give one of them another key")
    return Keymap(keys, changed)


def is_key(key: str) -> bool:
    """Whether Textual could ever name a key like this."""
    *modifiers, last = key.split("+") if key != "+" else [key]
    known = last in _NAMES or len(format_key(last)) == 1
    return known and set(modifiers) <= _MODIFIERS


def _find(name: str) -> Path:
    own = user_config_file().parent
    file = own / Path(name).expanduser()
    for candidate in (keymaps_dir() / f"{name}.yaml", own / "keymaps" / f"{name}.yaml", file):
        if candidate.is_file():
            return candidate
    built_in = ", ".join(sorted(path.stem for path in keymaps_dir().glob("*.yaml")))
    raise UsageError(
        f"no keymap is called {name!r}: use {built_in}, a file, or one of your own in {own / 'keymaps'}"
    )


def _read(file: Path, known: Mapping[str, object] | None) -> dict[str, tuple[str, ...]]:
    """The acts in a file, by id; only those of `known` may be there."""
    read = read_settings_file(file)
    sections = read[0] if read is not None else {}
    found: dict[str, tuple[str, ...]] = {}
    for section, acts in sections.items():
        if not isinstance(acts, Mapping):
            raise UsageError(f"{file}: {section}: acts and their keys were expected, as in `step: n, f10`")
        for act, keys in acts.items():
            name = f"{section}.{act}"
            if known is not None and name not in known:
                near = get_close_matches(name, known, n=1)
                raise UsageError(
                    f"{file}: there is no act {name}" + (f": did you mean {near[0]}?" if near else "")
                )
            found[name] = tuple(_keys(file, name, keys))
    return found


def _keys(file: Path, name: str, text: object) -> Iterator[str]:
    # A digit alone is a number in YAML.
    words = str(text).split(",") if isinstance(text, str | int) and not isinstance(text, bool) else []
    if not words:
        raise UsageError(f"{file}: {name}: keys were expected, as in `n, f10`")
    for word in words:
        parts = word.split()
        if not 1 <= len(parts) <= 2 or not all(map(is_key, parts)):
            raise UsageError(f"{file}: {name}: {word.strip()!r} is not a key (nor two keys)")
        yield " ".join(map(_full_name, parts))


def _full_name(key: str) -> str:
    """`question_mark` for `?`."""
    return next(iter(Binding.make_bindings([Binding(key, "none")]))).key


def _shared(keys: Mapping[str, tuple[str, ...]]) -> set[tuple[str, str, str]]:
    """Each key that two acts have at the same time, with the two."""
    shared = set()
    for sections in TOGETHER:
        acts = sorted(name for name in keys if name.partition(".")[0] in sections)
        for one, other in combinations(acts, 2):
            shared |= {(key, one, other) for key in set(keys[one]) & set(keys[other])}
    return shared
