"""The process that a grader's Python function or regular expression runs in: a script of its own.

It is run by path with an interpreter of the user's choice, Python 3.9 or newer: standard library only.

    python python_runner.py RESULT_FD

The job comes as one line of JSON on standard input, the result goes as one line of JSON to RESULT_FD:
`{"reward": 1.0, "reason": "", "metrics": {}}` or `{"error": one line, "detail": a traceback}`. Standard input
stays open as long as the host lives; when it closes, this process and its children end. What the user's code
prints does not disturb the result.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable
from typing import Any, BinaryIO, NoReturn

_FRAMES = 8
_LONGEST_REASON = 500
_MOST_METRICS = 100
_LONGEST_NAME = 100
_LONGEST_DETAIL = 8000


class JobError(Exception):
    """What the user has to put right, in one line."""


def main() -> NoReturn:
    result_fd = int(sys.argv[1])
    os.set_inheritable(result_fd, False)
    lifeline = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    job = json.loads(lifeline.readline())
    threading.Thread(target=die_with_host, args=(lifeline,), daemon=True).start()
    line = memoryview(json.dumps(perform(job)).encode() + b"\n")
    flush_prints()
    while line:
        line = line[os.write(result_fd, line) :]
    # A thread that the user's code left behind must not keep the process.
    os._exit(0)


def die_with_host(lifeline: BinaryIO) -> None:
    lifeline.read()
    os.killpg(0, signal.SIGKILL)


def flush_prints() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # The user's code closed or replaced the stream: what it held is the user's affair.
            continue


def perform(job: dict[str, Any]) -> dict[str, Any]:
    try:
        if "pattern" in job:
            return search(job["pattern"], job["values"]["answer"])
        return as_grade(call(find(job["function"], job["folder"]), job["values"]))
    except JobError as error:
        return {"error": str(error), "detail": ""}
    except BaseException as error:
        return {"error": one_line(error), "detail": short_traceback(error)}


def search(pattern: str, answer: str) -> dict[str, Any]:
    match = re.search(pattern, answer)
    if match is None:
        return {"reward": 0.0, "reason": "the pattern is not in the answer"}
    return {"reward": 1.0, "reason": f"the pattern matches {match.group()[:80]!r}"}


def find(name: str, folder: str) -> Any:
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [folder, *(entry for entry in sys.path if entry != here)]
    module_name, _, path = name.partition(":")
    try:
        found = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise JobError(f"no module {error.name} in {folder} or for {sys.executable}") from None
    for part in path.split("."):
        if not hasattr(found, part):
            raise JobError(f"{module_name} has no {path}")
        found = getattr(found, part)
    if not callable(found):
        raise JobError(f"{name} is not a function")
    return found


def call(function: Callable[..., Any], values: dict[str, Any]) -> Any:
    positional, named = arguments(function, values)
    result = function(*positional, **named)
    if not inspect.isawaitable(result):
        return result
    # Slow to import, and most functions need none of it.
    import asyncio

    return asyncio.run(finish(result))


async def finish(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def arguments(function: Callable[..., Any], values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    positional: dict[str, Any] = {}
    named: dict[str, Any] = {}
    unknown: list[str] = []
    takes_all = False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_all = True
        elif parameter.kind is not parameter.VAR_POSITIONAL and name in values:
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional[name] = values[name]
            else:
                named[name] = values[name]
        elif parameter.kind is not parameter.VAR_POSITIONAL and parameter.default is parameter.empty:
            unknown.append(name)
    if unknown:
        raise JobError(f"the function wants {', '.join(unknown)}; it can have {', '.join(values)}")
    if takes_all:
        named = {name: value for name, value in values.items() if name not in positional}
    return list(positional.values()), named


def as_grade(result: Any) -> dict[str, Any]:
    reward, reason, metrics = result, "", {}
    if isinstance(result, dict):
        if "reward" not in result:
            raise JobError("the function returned an object without 'reward'")
        reward, reason = result["reward"], str(result.get("reason") or "")
        metrics = as_metrics(result.get("metrics") or {})
    if not is_number(reward):
        kind = type(reward).__name__
        raise JobError(
            f"the function returned {kind}: it may return a number, a truth value, "
            "or an object with 'reward', 'reason' and 'metrics'"
        )
    value = float(reward)
    if not math.isfinite(value):
        raise JobError(f"the function returned {value}: a reward is a finite number")
    return {"reward": value, "reason": reason[:_LONGEST_REASON], "metrics": metrics}


def as_metrics(metrics: Any) -> dict[str, float]:
    if not isinstance(metrics, dict) or len(metrics) > _MOST_METRICS:
        raise JobError(f"'metrics' is an object of at most {_MOST_METRICS} names and numbers")
    for name, value in metrics.items():
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
            raise JobError(f"the name of a metric is a text of 1 to {_LONGEST_NAME} characters")
        if not is_number(value) or not math.isfinite(value):
            raise JobError(f"the metric {name!r} is no finite number")
    return {name: float(value) for name, value in metrics.items()}


def is_number(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and hasattr(type(value), "__float__")


def one_line(error: BaseException) -> str:
    return " ".join(traceback.format_exception_only(type(error), error)[-1].split())[:_LONGEST_REASON]


def short_traceback(error: BaseException) -> str:
    """The traceback without this file and without the import machinery."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "importlib" not in frame.filename
    ]
    lines = [*traceback.format_list(frames[-_FRAMES:]), *traceback.format_exception_only(type(error), error)]
    return "".join(lines).rstrip()[-_LONGEST_DETAIL:]


if __name__ == "__main__":
    main()
