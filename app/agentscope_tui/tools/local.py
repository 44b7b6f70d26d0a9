"""The built-in tools at work in one folder: a shell, and text files."""

from __future__ import annotations

import codecs
import json
import signal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from agentscope_tui.errors import UserError
from agentscope_tui.tools import declarations
from agentscope_tui.tools.arguments import check_arguments
from agentscope_tui.tools.capping import CappedText
from agentscope_tui.tools.files import FileError
from agentscope_tui.tools.limits import NO_LIMITS, CommandLimits
from agentscope_tui.tools.process import ExitStatus, ProcessHost
from agentscope_tui.tools.sandbox import Sandbox
from agentscope_tui.tools.spec import LimitHit, OnOutput, Stream, ToolOutcome

_TIMEOUT_CODE = 124
"""The exit code of the `timeout` command."""
_MAX_ARGUMENT = 30_000
"""Characters (of at most 4 bytes) that surely fit one argument: Linux allows 128 KiB."""
_JOIN = 'IFS=; script="$*"; unset IFS; set --; eval "$script"'
_HINT = "narrow it down, for example with grep, head or tail"


class _Ended(Exception):
    """A file tool reached a limit."""

    def __init__(self, said: str, status: ExitStatus) -> None:
        super().__init__(said)
        self.status = status


class LocalTools:
    """`bash`, `read_file`, `write_file`, `edit_file`, `list_files` in the existing folder `workdir`.

    `submit` is only declared: the host answers it. `bash_timeout` is in seconds, `result_cap` in characters.
    """

    def __init__(
        self,
        workdir: Path,
        *,
        sandbox: Sandbox,
        bash_timeout: float = 300.0,
        result_cap: int = 16_000,
        limits: CommandLimits = NO_LIMITS,
        offered: Collection[str] = declarations.NAMES,
    ):
        """`offered` are the names of those that the agent gets."""
        self._workdir = workdir
        self._sandbox = sandbox
        self._timeout = bash_timeout
        self._cap = result_cap
        self._limits = limits
        self._processes = ProcessHost(sandbox, workdir)
        self._specs = {spec["name"]: spec for spec in declarations.ALL if spec["name"] in offered}

    @cached_property
    def workdir(self) -> Path:
        """The folder by its real name. Many sessions never ask for a tool that works in it."""
        return self._workdir.resolve()

    @property
    def specs(self) -> Sequence[dict[str, Any]]:
        return list(self._specs.values())

    @property
    def confinement(self) -> str:
        return self._sandbox.name

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        if name not in self._specs:
            raise UserError(f"tool {name!r} not available (there are: {', '.join(self._specs)})")
        check_arguments(self._specs[name], arguments)
        try:
            return await self._call(name, arguments, on_output)
        except _Ended as ended:
            hits = _hits(name, ended.status, self._limits, self._timeout)
            return ToolOutcome(content=str(ended), is_error=True, side_effects=True, limits=hits)

    async def _call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        match name:
            case "bash":
                return await self._bash(arguments["command"], on_output)
            case "read_file":
                text, was_cut = await self._files("read_text", path=arguments["path"], cap=self._cap)
                return ToolOutcome(content=text.replace("\0", "�"), truncated=was_cut)
            case "write_file":
                given = {name: arguments[name] for name in ("path", "content")}
                return ToolOutcome(content=await self._files("write_text", **given), side_effects=True)
            case "edit_file":
                given = {name: arguments[name] for name in ("path", "old", "new")}
                return ToolOutcome(content=await self._files("edit_text", **given), side_effects=True)
            case "list_files":
                return ToolOutcome(content=await self._files("list_folder", path=arguments["path"]))
            case _:
                raise UserError(f"tool {name!r} is answered by the session, not run")

    async def run_command(
        self,
        command: str,
        *,
        timeout: float | None,
        on_output: OnOutput | None = None,
        env: Mapping[str, str] | None = None,
    ) -> tuple[ExitStatus, str]:
        """Run a shell command in the folder, confined as `bash` is; `env` adds variables.

        Returns how it ended and its output (stdout and stderr as they came, capped, invalid UTF-8 and NUL
        shown by `�`). Cancelling ends all that it started.
        """
        status, output = await self._run(command, timeout, on_output, env or {})
        return status, output.text(self._cap, _HINT)

    async def aclose(self) -> None:
        await self._processes.aclose()

    async def _bash(self, command: str, on_output: OnOutput) -> ToolOutcome:
        status, output = await self._run(command, self._timeout, on_output, {})
        note, code = _ending(status, self._timeout, self._limits)
        body = output.text(self._cap - len(note) - 1, _HINT)
        if note and body and not body.endswith("\n"):
            body += "\n"
        return ToolOutcome(
            content=body + note or "(no output)",
            is_error=code != 0,
            truncated=output.length > self._cap - len(note) - 1,
            exit_code=code,
            side_effects=True,
            limits=_hits("bash", status, self._limits, self._timeout),
        )

    async def _files(self, act: str, **arguments: Any) -> Any:
        """What a function of `files` returns, run where commands run.

        Raises:
            FileError: it could not do it; one line for the model.
            _Ended: it reached a limit.
        """
        answer = bytearray()
        faults = CappedText(self._cap)

        async def collect(stream: Stream, data: bytes) -> None:
            if stream == "stdout":
                answer.extend(data)
            else:
                faults.add(data.decode(errors="replace"))

        request = {"act": act, "arguments": {"root": str(self.workdir), **arguments}}
        status = await self._processes.run(
            self._sandbox.module("file_tool"),
            cwd=self.workdir,
            env=self._sandbox.environment(self.workdir),
            timeout=self._timeout,
            on_output=collect,
            stdin=json.dumps(request).encode(),
            limits=replace(self._limits, output=None),
        )
        if status.reached or status.timed_out:
            raise _Ended(f"{arguments['path']}: {_ending(status, self._timeout, self._limits)[0]}", status)
        if status.code != 0:
            last = faults.text(self._cap).strip().rpartition("\n")[2]
            raise FileError(f"{arguments['path']}: the file tool failed: {last or status}")
        said = json.loads(answer)
        if "error" in said:
            raise FileError(said["error"])
        return said["result"]

    async def _run(
        self, command: str, timeout: float | None, on_output: OnOutput | None, env: Mapping[str, str]
    ) -> tuple[ExitStatus, CappedText]:
        text = CappedText(self._cap)
        make_decoder = codecs.getincrementaldecoder("utf-8")
        decoders = {"stdout": make_decoder("replace"), "stderr": make_decoder("replace")}

        async def collect(stream: Stream, data: bytes) -> None:
            text.add(decoders[stream].decode(data).replace("\0", "�"))
            if on_output is not None:
                await on_output(stream, data)

        status = await self._processes.run(
            _shell(command),
            cwd=self.workdir,
            env=self._sandbox.environment(self.workdir) | {**env},
            timeout=timeout,
            on_output=collect,
            limits=self._limits,
        )
        for decoder in decoders.values():
            text.add(decoder.decode(b"", final=True))
        return status, text


def _shell(command: str) -> list[str]:
    """The command line of a shell command, in pieces when it is too long for one argument."""
    if "\0" in command:
        raise UserError("bash: argument 'command' has a NUL character; remove it")
    pieces = [command[i : i + _MAX_ARGUMENT] for i in range(0, len(command), _MAX_ARGUMENT)]
    if len(pieces) <= 1:
        return ["bash", "-c", command]
    return ["bash", "-c", _JOIN, "bash", *pieces]


def _ending(status: ExitStatus, timeout: float, limits: CommandLimits) -> tuple[str, int]:
    """What the result says of an end that is no success, and the exit code as a shell gives it."""
    said = [f"[it {limits.said(name)}]" for name in status.reached]
    code = status.code or 0
    if status.timed_out:
        said, code = [*said, f"[timed out after {timeout:g} s]"], _TIMEOUT_CODE
    elif status.signal is not None:
        code = 128 + status.signal
        said.append(f"[killed by signal {status.signal} ({_signal_name(status.signal)})]")
    elif code:
        said.append(f"[exit {code}]")
    return "\n".join(said), code


def _hits(tool: str, status: ExitStatus, limits: CommandLimits, timeout: float) -> tuple[LimitHit, ...]:
    hits = [
        LimitHit(
            name=f"tools.limits.{name}", value=getattr(limits, name), reason=f"{tool} {limits.said(name)}"
        )
        for name in status.reached
    ]
    if status.timed_out:
        reason = f"{tool} ran for {timeout:g} s and was ended"
        hits.append(LimitHit(name="tools.bash_timeout", value=timeout, reason=reason))
    return tuple(hits)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return "unknown"
