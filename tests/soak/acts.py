"""What a random user does: acts drawn from a seed, as data, so that a run can be replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

ROWS = 8
KEYS = (
    *"nNcpirexsmtqzHWLM0",
    *"()[]{}gjkvyfw/nNAG",
    *("up", "down", "left", "right", "pageup", "pagedown", "home", "end", "tab", "shift+tab", "space"),
    *("enter", "escape", "escape", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"),
    *("alt+1", "alt+2", "alt+3", "alt+4", "alt+z", "alt+w", "alt+l", "ctrl+right", "ctrl+up", "ctrl+b"),
    *("ctrl+c", "ctrl+r", "ctrl+p", "ctrl+s", "shift+up", "shift+down", "backspace", "delete", "a", "b"),
)
"""All but what quits."""
SIZES = ((112, 24), (80, 24), (120, 40), (40, 10), (200, 60), (20, 5), (96, 30))
WEIGHTS = {
    "key": 30,
    "step": 20,
    "continue": 10,
    "interrupt": 4,
    "say": 18,
    "row": 6,
    "rerun": 2,
    "edit": 4,
    "refuse": 3,
    "retry": 4,
    "give up": 2,
    "withdraw": 2,
    "move": 2,
    "resize": 2,
    "click": 4,
    "type": 3,
    "rest": 5,
}


@dataclass(frozen=True)
class Act:
    """One thing that the user does: which, a number that chooses within it, and seconds to wait after it."""

    name: str
    number: int
    pause: float

    def __str__(self) -> str:
        return f"{self.name} {self.number} ({self.pause:.3f} s)"


def acts(seed: int) -> Iterator[Act]:
    """The acts of this seed, without end. Nothing in them depends on what the app does."""
    random = Random(seed)
    names, weights = list(WEIGHTS), list(WEIGHTS.values())
    while True:
        (name,) = random.choices(names, weights)
        number, pause = random.randrange(1_000_000), random.random()
        yield Act(name, number, pause if name == "rest" else pause * pause * 0.02)


def scripts(seed: int) -> list[dict[str, Any]]:
    """A scripted model for each row: streams, tools, faults, retries and stalls, drawn from the seed."""
    random = Random(seed)
    return [
        {
            "match": f"task {row} ",
            "replies": [random.choices(_REPLIES, _OFTEN)[0](random) for _ in range(200)],
        }
        for row in range(ROWS)
    ]


def _text(random: Random) -> dict[str, Any]:
    words = " ".join(random.choice(_WORDS) for _ in range(random.randrange(1, 120)))
    return {"text": words, "reasoning": random.choice(["", "hm, "]), "tokens_per_second": 2_000}


def _calls(random: Random) -> dict[str, Any]:
    calls = [random.choice(_CALLS)(random) for _ in range(random.choice([1, 1, 1, 2, 3]))]
    return {"text": random.choice(["", "I look."]), "tool_calls": calls, "tokens_per_second": 2_000}


def _fault(random: Random) -> dict[str, Any]:
    kind = random.choice(["server", "rate_limit", "timeout", "connection"])
    return {"text": random.choice(["", "half a "]), "error": {"kind": kind}, "tokens_per_second": 2_000}


def _retried(random: Random) -> dict[str, Any]:
    return {**_text(random), "retries": [{"seconds": random.random() * 0.3}]}


def _stalled(random: Random) -> dict[str, Any]:
    return {**_text(random), "stall": {"after": 1, "seconds": random.random() * 0.5}}


def _submitted(random: Random) -> dict[str, Any]:
    return {"tool_calls": [{"name": "submit", "arguments": {"answer": str(random.randrange(3))}}]}


def _cut(random: Random) -> dict[str, Any]:
    return {**_calls(random), "finish_reason": "length"}


def _bash(command: str) -> Callable[[Random], dict[str, Any]]:
    return lambda random: {"name": "bash", "arguments": {"command": command}}


def _broken(random: Random) -> dict[str, Any]:
    return {"name": random.choice(["bash", "no such tool"]), "arguments": random.choice(["{", "[1]", "{}"])}


def _file(random: Random) -> dict[str, Any]:
    name = random.choice(["a.txt", "b/c.txt", "../out", "/etc/passwd"])
    if random.random() < 0.5:
        return {"name": "write_file", "arguments": {"path": name, "content": "x\n" * 50}}
    return {"name": "read_file", "arguments": {"path": name}}


_WORDS = (
    "a",
    "list",
    "**of**",
    "`words`",
    "\n\n- and",
    "\n```py\nx = 1\n```\n",
    "[/x]",
    "\x1b[31m",
    "é",
    "漢字",
    "‮",
)
_CALLS = (
    _bash("echo hello; echo oops >&2; exit 3"),
    _bash("seq 2000"),
    _bash("for i in $(seq 20); do echo line $i; sleep 0.02; done"),
    _bash("sleep 0.5"),
    _bash("trap '' TERM; setsid sleep 47 & sleep 0.3; echo started"),
    _bash("setsid sleep 47 & sleep 47"),
    _bash("printf '\\033[2Jred\\r%.0sbar' $(seq 300)"),
    _bash("head -c 3000000 /dev/zero | tr '\\0' 'x'"),
    _broken,
    _file,
    _file,
)
_REPLIES = (_text, _calls, _fault, _retried, _stalled, _submitted, _cut)
_OFTEN = (20, 50, 7, 4, 6, 8, 3)
