"""Runs the FastMCP server that a folder's `main.py` makes over stdin and stdout: `python mcp_folder.py DIR`.

So a project whose `main.py` would serve another way, or not by itself, needs no change.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import types
from typing import Any

_CLASSES = ("FastMCP", "MCPServer")
_PACKAGE = "_mcp_folder"


def main() -> None:
    folder = os.path.abspath(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    # The working folder comes last: the server's own folder is often called `mcp`, as the SDK is.
    sys.path[:] = [folder, *others, os.getcwd()]
    sys.argv[:] = [os.path.join(folder, "main.py")]
    module = load(folder)
    server = next((value for value in vars(module).values() if is_server(value)), None)
    if server is None:
        sys.exit(f"{sys.argv[0]} makes no FastMCP server")
    server.run(transport="stdio")


def load(folder: str) -> Any:
    """The module `main.py`, in a package of its own: so it may import its neighbours either way."""
    package = sys.modules[_PACKAGE] = types.ModuleType(_PACKAGE)
    package.__path__ = [folder]
    spec = importlib.util.spec_from_file_location(f"{_PACKAGE}.main", os.path.join(folder, "main.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_server(value: Any) -> bool:
    """Whether it is an instance of one of the classes, whichever package has it."""
    return not inspect.isclass(value) and any(base.__name__ in _CLASSES for base in type(value).__mro__)


if __name__ == "__main__":
    main()
