"""Calling the user back: what is told, and in the words of which terminal."""

from __future__ import annotations

import pytest

from agentscope_tui.tui.attention import Attention, notification

NEWS = "row 3: paused after call #2"


@pytest.mark.parametrize(
    ("environ", "sequence"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, f"\x1b]9;agentscope: {NEWS}\x1b\\"),
        ({"TERM_PROGRAM": "WezTerm"}, f"\x1b]9;agentscope: {NEWS}\x1b\\"),
        ({"TERM": "xterm-ghostty"}, f"\x1b]9;agentscope: {NEWS}\x1b\\"),
        ({"VTE_VERSION": "7600", "TERM": "xterm-256color"}, f"\x1b]777;notify;agentscope;{NEWS}\x1b\\"),
        ({"TERM": "foot"}, f"\x1b]777;notify;agentscope;{NEWS}\x1b\\"),
        ({"TERM": "xterm-256color"}, ""),
        ({"TERM": "tmux-256color", "TMUX": "/run/x", "TERM_PROGRAM": "tmux", "VTE_VERSION": "7600"}, ""),
        ({}, ""),
    ],
)
def test_each_terminal_gets_the_sequence_that_it_knows(environ: dict[str, str], sequence: str):
    assert notification(NEWS, environ) == sequence


def test_kitty_gets_title_and_body():
    told = notification(NEWS, {"KITTY_WINDOW_ID": "1"})
    assert told.startswith("\x1b]99;i=agentscope:d=0;agentscope\x1b\\")
    assert told.endswith(f":p=body;{NEWS}\x1b\\")


def test_the_setting_says_how_loud():
    foot = {"TERM": "foot"}
    assert Attention("off", foot).call(NEWS) == ""
    assert Attention("bell", foot).call(NEWS) == "\a"
    assert Attention("desktop", foot).call(NEWS) == notification(NEWS, foot) + "\a"
