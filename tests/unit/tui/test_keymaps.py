"""Keymaps: the default one is what the code binds, the others fit it, and mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Key

from agentscope_tui.errors import UsageError
from agentscope_tui.resources import keymaps_dir
from agentscope_tui.tui.key_sequences import KeySequences
from agentscope_tui.tui.keymap import TOGETHER, is_key, load_keymap
from our_nodes import DEFAULT_KEYMAP, bound, default_keymap


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's own keymaps."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "agentscope" / "keymaps"
    folder.mkdir(parents=True)
    return folder


def test_the_default_keymap_is_what_the_code_binds():
    """`PYTHONPATH=tests python tests/our_nodes.py` writes it anew."""
    assert DEFAULT_KEYMAP.read_text(encoding="utf-8") == default_keymap()
    keymap = load_keymap("default")
    assert set(keymap.keys) == set(bound())
    assert keymap.keys["debugger.step"] == ("n", "f10")
    assert keymap.keys["debugger.help"] == ("question_mark", "f1")
    assert keymap.overrides == {}


def test_every_section_acts_together_with_others():
    sections = {name.partition(".")[0] for name in bound()}
    assert sections == {section for group in TOGETHER for section in group}


@pytest.mark.parametrize("name", [path.stem for path in sorted(keymaps_dir().glob("*.yaml"))])
def test_the_keymaps_that_come_along_have_no_mistakes(name: str):
    keymap = load_keymap(name)
    assert all(is_key(part) for keys in keymap.keys.values() for key in keys for part in key.split())


def test_vim_and_ide_have_the_keys_that_they_promise():
    vim = load_keymap("vim")
    assert [vim.keys[f"view.{act}"][0] for act in ("up", "down", "start", "end")] == ["k", "j", "g g", "G"]
    assert vim.sequences == {"g g"}
    ide = load_keymap("ide")
    assert [ide.keys[f"debugger.{act}"][0] for act in ("continue", "step", "interrupt")] == [
        "f5",
        "f10",
        "shift+f5",
    ]


def test_a_keymap_of_ones_own_changes_only_what_it_names(own: Path):
    (own / "mine.yaml").write_text("debugger:\n  step: ctrl+n, ?\n  help: f1\n  pane_rows: 9\n")
    keymap = load_keymap("mine")
    assert keymap.overrides == {
        "debugger.step": "ctrl+n,question_mark",
        "debugger.help": "f1",
        "debugger.pane_rows": "9",
    }
    assert keymap.keys["debugger.continue"] == ("c", "f5")


def test_a_keymap_is_found_by_its_path_too(own: Path, tmp_path: Path):
    (own / "mine.yaml").write_text("rows:\n  up: k\n")
    (own.parent / "other.yaml").write_text("rows:\n  up: K\n")
    assert load_keymap(str(own / "mine.yaml")).keys["rows.up"] == ("k",)
    assert load_keymap("other.yaml").keys["rows.up"] == ("K",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("debugger:\n  stepp: n\n", "there is no act debugger.stepp: did you mean debugger.step?"),
        ("debuger:\n  step: n\n", "there is no act debuger.step: did you mean debugger.step?"),
        ("debugger:\n  step: f10, hyperspace\n", "debugger.step: 'hyperspace' is not a key"),
        ("debugger:\n  step: a b c\n", "debugger.step: 'a b c' is not a key"),
        ("debugger:\n  step: ''\n", "debugger.step: '' is not a key"),
        ("debugger:\n  step:\n", "debugger.step: keys were expected"),
        ("debugger:\n  step: [n]\n", "debugger.step: keys were expected"),
        ("debugger:\n  step: true\n", "debugger.step: keys were expected"),
        ("debugger: n\n", "debugger: acts and their keys were expected"),
        ("debugger:\n  step: c\n", "'c' would be both debugger.continue and debugger.step"),
        ("calls:\n  up: n\n", "'n' would be both calls.up and debugger.step"),
        ("debugger: [\n", "not valid YAML"),
        ("- n\n", "sections like"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_act(own: Path, text: str, said: str):
    (own / "mine.yaml").write_text(text)
    with pytest.raises(UsageError) as caught:
        load_keymap("mine")
    assert said in str(caught.value)
    assert "mine.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_keymap_names_those_that_there_are(own: Path):
    with pytest.raises(
        UsageError, match=r"no keymap is called 'emacs': use default, ide, vim, a file, or"
    ) as caught:
        load_keymap("emacs")
    assert str(own) in str(caught.value)


def test_acts_may_swap_their_keys(own: Path):
    (own / "mine.yaml").write_text("debugger:\n  step: c, f5\n  continue: n, f10\n")
    keymap = load_keymap("mine")
    assert keymap.keys["debugger.step"] == ("c", "f5")


@pytest.mark.parametrize(
    ("keys", "typing", "acts"),
    [
        ("g g", False, ["g g"]),
        ("g x", False, ["g", "x"]),
        ("x g g g g", False, ["x", "g g", "g g"]),
        ("g g", True, ["g", "g"]),
        ("g escape", False, ["g", "escape"]),
    ],
)
def test_two_keys_in_a_row_are_one(keys: str, typing: bool, acts: list[str]):
    sequences = KeySequences({"g g"})
    came = [key for name in keys.split() for key in sequences.take(Key(name, name[:1]), typing=typing)]
    assert [key.key for key in came] == acts
