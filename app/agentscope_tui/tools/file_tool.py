"""One act of the file tools in a process of its own, so that it is confined as every command is.

The request is JSON on stdin: `act`, a function of `files`, and its `arguments`. The answer is JSON on
stdout: `result`, or `error` with one line for the model. Standard library only: `inside.py` runs it.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from agentscope_tui.tools import files

_ACTS = {act.__name__: act for act in (files.read_text, files.write_text, files.edit_text, files.list_folder)}


def main(words: list[str]) -> None:
    """Do what stdin asks for."""
    # Python ignores it, but whoever runs this learns by it that a file is too large.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    request = json.load(sys.stdin)
    arguments = request["arguments"]
    try:
        answer = {"result": _ACTS[request["act"]](Path(arguments.pop("root")), **arguments)}
    except files.FileError as error:
        answer = {"error": str(error)}
    # Names and texts may hold halves of surrogate pairs, which only ASCII can carry.
    sys.stdout.write(json.dumps(answer))
