"""Processes with a mark, a sink for output, and a shell: what the tests of tools share."""

import asyncio
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from agentscope_tui.tools.process import ExitStatus, ProcessHost
from agentscope_tui.tools.sandbox import Sandbox

DEADLINE = 15.0


async def until(predicate: Callable[[], object], what: str) -> None:
    """Wait for a state; fails after a deadline that only a hang reaches."""
    end = time.monotonic() + DEADLINE
    while not predicate():
        assert time.monotonic() < end, f"never: {what}"
        await asyncio.sleep(0.005)


class Marked:
    """Processes told apart by an argument that nobody else has: a number of seconds to sleep."""

    def __init__(self) -> None:
        self.seconds = f"98765.{uuid.uuid4().int % 10**12:012}"

    def shell(self, command: str) -> str:
        return command.replace("MARK", self.seconds)

    def alive(self) -> list[str]:
        """The command lines of all that have the mark."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                except OSError:  # ended since the listing
                    continue
                if self.seconds in line:
                    found.append(f"{folder.name}: {line}")
        return found

    def sleepers(self) -> int:
        return sum(f": sleep {self.seconds}" in line for line in self.alive())


class Sink:
    """Collects output."""

    def __init__(self) -> None:
        self.chunks: list[tuple[str, bytes]] = []

    async def __call__(self, stream: str, data: bytes) -> None:
        self.chunks.append((stream, data))

    def bytes(self, stream: str = "stdout") -> bytes:
        return b"".join(data for name, data in self.chunks if name == stream)


class Shell:
    """A process host that runs shell commands in one folder."""

    def __init__(self, host: ProcessHost, sandbox: Sandbox, folder: Path):
        self.host, self.sandbox, self.folder = host, sandbox, folder
        self.sink = Sink()

    async def __call__(self, command: str, timeout: float | None = 30, **options: object) -> ExitStatus:
        options = {"env": self.sandbox.environment(self.folder), "on_output": self.sink, **options}
        return await self.host.run(["bash", "-c", command], cwd=self.folder, timeout=timeout, **options)
