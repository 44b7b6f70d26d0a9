"""Runs one module of this folder where agentscope is not installed: `inside.py MODULE WORDS ...`.

The interpreter has the standard library and no more (`-I -S`), and a sandbox may hide or not list what is
beside this package. So the package is known as a place to find modules in, and its `__init__` is not run:
what runs here imports nothing of it that needs more than the standard library.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType


def main(words: list[str]) -> None:
    package = ModuleType("agentscope_tui")
    package.__path__ = [str(Path(__file__).parents[1])]
    sys.modules[package.__name__] = package
    import_module(f"{package.__name__}.tools.{words[0]}").main(words[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
