"""The installed command on a real terminal (a pty), read as a terminal reads it."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pexpect
import pyte
import yaml

COMMAND = str(Path(sys.executable).with_name("agentscope"))
DEADLINE = 30.0
_MODE = re.compile(rb"\x1b\[\?(\d+)([hl])")
_WRAPPER = """
before=$(stty -g); "$@"; code=$?
[ "$before" = "$(stty -g)" ] && same=same
printf '\\nexit %s %s\\n' $code $same
"""


def environment(folder: Path) -> dict[str, str]:
    """This process's environment without settings or terminal of its own; state and home in `folder`."""
    # The last two say how large the terminal is, and would win over the real one's size.
    ours = ("AGENTSCOPE_", "TEXTUAL", "COLUMNS", "LINES")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {
        **kept,
        "AGENTSCOPE_HOME": str(folder / "state"),
        "HOME": str(folder / "home"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "TEXTUAL_ANIMATIONS": "none",
        "LANG": "C.UTF-8",
    }


def write_rows(folder: Path, *rows: dict[str, Any] | str) -> Path:
    """A dataset of these rows."""
    file = folder / "tasks.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("\n".join(lines) + "\n")
    return file


def write_script(folder: Path, *replies: dict[str, Any]) -> str:
    """A scripted model that gives these replies at once; its name for `--model`."""
    file = folder / "script.yaml"
    replies = tuple({"tokens_per_second": 10_000, **reply} for reply in replies)
    file.write_text(yaml.safe_dump({"scripts": [{"replies": list(replies)}]}))
    return f"scripted:{file}"


def bash(command: str, text: str = "") -> dict[str, Any]:
    """A reply that calls the shell."""
    said = {"text": text} if text else {}
    return {**said, "tool_calls": [{"name": "bash", "arguments": {"command": command}}]}


def submit(answer: str) -> dict[str, Any]:
    """A reply that submits an answer."""
    return {"tool_calls": [{"name": "submit", "arguments": {"answer": answer}}]}


def processes(word: str) -> list[int]:
    """The processes of this machine whose arguments contain a word, but for shells that only quote it."""
    return [pid for pid, arguments in _all_processes() if word in arguments]


def _all_processes() -> Iterator[tuple[int, list[str]]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                yield int(folder.name), (folder / "cmdline").read_text(errors="replace").split("\0")
            except OSError:
                continue


class Terminal:
    """A command on a terminal of 120×40; `screen` is what stands there now."""

    def __init__(self, folder: Path, words: Sequence[str], *, size: tuple[int, int] = (120, 40)) -> None:
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self._child = pexpect.spawn(
            "/bin/sh",
            ["-c", _WRAPPER, "sh", *words],
            cwd=str(folder),
            env=environment(folder),
            dimensions=(size[1], size[0]),
            timeout=DEADLINE,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        self._child.close(force=True)

    @property
    def screen(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def pid(self) -> int:
        """The process of the command."""
        shell = self._child.pid
        return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])

    def press(self, keys: str) -> None:
        """Type these characters."""
        self._child.send(keys)

    def until(self, wanted: str | Callable[[], object]) -> None:
        """Wait until a text stands on the screen, or a predicate holds."""
        deadline = time.monotonic() + DEADLINE
        while not (wanted in self.screen if isinstance(wanted, str) else wanted()):
            assert time.monotonic() < deadline, f"{wanted!r} did not come; on screen:\n{self.screen}"
            self._read()

    def exit(self) -> int:
        """Wait for the end of the command; its exit code. The terminal must be as it was."""
        self.until(lambda: b"\nexit " in self.raw and self.raw.endswith(b"\r\n"))
        code, same = re.findall(rb"\nexit (\d+) (\w*)", self.raw)[-1]
        modes = dict(_MODE.findall(self.raw))
        assert same == b"same", "the terminal's settings are not as before"
        usual = [b"7", b"25"]  # lines wrap, the cursor shows
        assert [mode for mode in usual if modes.pop(mode, b"h") == b"l"] == []
        assert [mode for mode, set in modes.items() if set == b"h"] == []
        return int(code)

    def after_the_app(self) -> str:
        """What was printed after the app had left the screen, without escape sequences."""
        printed = self.raw.rpartition(b"\x1b[?1049l")[2].decode(errors="replace")
        return re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", printed)

    def _read(self) -> None:
        try:
            data = self._child.read_nonblocking(65536, timeout=0.05)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            time.sleep(0.05)
            return
        self.raw += data
        self._stream.feed(data)
