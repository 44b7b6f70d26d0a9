"""Finding the user's agent by `module:attribute`, and telling errors in their code without frames of ours."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import itertools
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from . import osmosis, osmosis_workflow
from .replies import AgentError

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_BASE = os.getcwd() + os.sep
"""The user's folder: what they started in."""
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_LONGEST = 20_000


class Agent:
    """A user's agent: `call(ctx)` runs a turn; with `is_async` it gives a coroutine."""

    def __init__(self, call: Callable[[Any], Any], *, is_async: bool) -> None:
        self.call = call
        self.is_async = is_async


def load_agent(name: str) -> Agent:
    """The agent called `package.module:attribute` or `file.py:attribute`; without attribute: `run`.

    Raises:
        AgentError: there is none of this name, or it is no agent.
        BaseException: what the user's module raises.
    """
    module_name, _, path = name.partition(":")
    module = _module(module_name)
    found: Any = module
    for part in (path or "run").split("."):
        if not hasattr(found, part):
            raise AgentError(f"{module_name} has no {path or 'run'}{_known(module)}")
        found = getattr(found, part)
    if osmosis.is_workflow(found):
        return Agent(functools.partial(osmosis_workflow.run, found), is_async=True)
    if inspect.isclass(found):
        found = found()
    if osmosis.is_agent(found):
        return Agent(functools.partial(osmosis.run, found), is_async=True)
    call = found if callable(found) else getattr(found, "run", None)
    if not callable(call):
        raise AgentError(f"{name} is no agent: it is neither a function nor has it a method `run`")
    return Agent(call, is_async=_is_async(call))


def load_tools(name: str) -> list[Callable[..., Any]]:
    """The functions that the module or file offers as tools: its list `TOOLS`, else its public functions.

    Raises:
        AgentError: there is no such module, or it has no function.
        BaseException: what the user's module raises.
    """
    module = _module(name)
    public = [
        value
        for key, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not key.startswith("_")
    ]
    tools = list(getattr(module, "TOOLS", public))
    if not tools:
        raise AgentError(f"{name} has no functions that could be tools")
    return tools


def one_line(error: BaseException) -> str:
    """The error and where the user's code raised it: `ValueError: bad (agent.py:12)`."""
    text = " ".join("".join(traceback.format_exception_only(type(error), error)[-1:]).split())
    frames = _theirs(traceback.extract_tb(error.__traceback__))
    own = [frame for frame in frames if frame.filename.startswith(_BASE)] or frames
    if isinstance(error, SyntaxError) and error.filename:
        return f"{text} ({error.filename.replace(_BASE, '')}:{error.lineno})"
    if not own:
        return text
    return f"{text} ({own[-1].filename.replace(_BASE, '')}:{own[-1].lineno})"


def traceback_of(error: BaseException) -> str:
    """The traceback of the user's code, paths relative to the working folder."""
    told = traceback.TracebackException.from_exception(error)
    _leave_out_ours(told, set())
    return _relative("".join(told.format()))


def stack_of(frame: Any) -> str:
    """Where the user's code is now."""
    return _relative("".join(traceback.format_list(_theirs(traceback.extract_stack(frame)))))


def _module(name: str) -> Any:
    return _import_file(name) if name.endswith(".py") else _import(name)


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise AgentError(f"no module {error.name} in {os.getcwd()} or for {sys.executable}") from None


def _import_file(path: str) -> Any:
    """As `python FILE` would: modules beside the file are found too."""
    full = os.path.abspath(path)
    if not os.path.isfile(full):
        raise AgentError(f"no file {path} in {os.getcwd()}")
    sys.path.insert(0, os.path.dirname(full))
    name = os.path.basename(full)[: -len(".py")]
    spec = importlib.util.spec_from_file_location(name, full)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        sys.path.remove(os.path.dirname(full))
        raise
    return module


def _known(module: Any) -> str:
    names = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    ]
    return f"; it has {', '.join(names)}" if names else ""


def _is_async(call: Any) -> bool:
    call = inspect.unwrap(call)
    while isinstance(call, functools.partial):
        call = call.func
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__)


def _theirs(frames: list[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    """The frames from the user's first one on, without the import machinery."""
    kept = [
        frame
        for frame in frames
        if not frame.filename.startswith(_HERE) and "importlib" not in frame.filename
    ]
    return [*itertools.dropwhile(lambda frame: frame.filename.startswith(_LIBRARY), kept)] or kept


def _leave_out_ours(told: traceback.TracebackException, seen: set[int]) -> None:
    if id(told) in seen:
        return
    seen.add(id(told))
    told.stack = traceback.StackSummary.from_list(_theirs(told.stack))
    for other in (told.__cause__, told.__context__, *(getattr(told, "exceptions", None) or ())):
        if other is not None:
            _leave_out_ours(other, seen)


def _relative(text: str) -> str:
    return text.replace(f'File "{_BASE}', 'File "')[-_LONGEST:].rstrip()
