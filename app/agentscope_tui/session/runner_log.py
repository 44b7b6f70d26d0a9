"""The runner's log as events: lines joined, and no more of them than a recording can carry."""

from __future__ import annotations

from agentscope_tui.events import RunnerLogged
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.streams import Joiner, Publish
from agentscope_tui.tools.spec import Stream
from agentscope_tui.wire.last_lines import LastLines

MAX_LOGGED = 4 * 1024 * 1024
"""Characters of log that a session records."""


class RunnerLog(Joiner):
    """Takes a runner's log line by line."""

    def __init__(self, publish: Publish) -> None:
        super().__init__()
        self._publish = publish
        self._joined: list[tuple[Stream, list[str]]] = []
        self._left = MAX_LOGGED
        self._masked = {name: MASKER.stream() for name in ("stdout", "stderr")}
        self._last = LastLines()

    def __call__(self, stream: Stream, line: str) -> None:
        """A line, without its line end."""
        if self.closed:
            return
        self._last.add(line)
        if self._left <= 0:
            return
        self._left -= len(line) + 1
        if self._left <= 0:
            line = "[the log is longer than 4 MiB: what follows is not kept]"
        if not self._joined or self._joined[-1][0] != stream:
            self._joined.append((stream, []))
        self._joined[-1][1].append(line)
        self.grew(len(line) + 1)

    def with_end(self, reason: str) -> str:
        """Why a runner failed, with the last lines of its log, also of what was not kept."""
        return self._last.after(reason)

    def close(self) -> None:
        super().close()
        for stream in ("stdout", "stderr"):
            self._tell(stream, self._masked[stream].rest())

    def _publish_joined(self) -> None:
        joined, self._joined = self._joined, []
        for stream, lines in joined:
            self._tell(stream, self._masked[stream].take("".join(f"{line}\n" for line in lines)))

    def _tell(self, stream: Stream, text: str) -> None:
        if text:
            self._publish(RunnerLogged(stream=stream, text=text))
