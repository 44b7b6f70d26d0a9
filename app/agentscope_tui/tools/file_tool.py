"""One act of the file tools in a process of its own, so that it is confined as every command is.

The request is JSON on stdin: `act`, a function of `files`, and its `arguments`. The answer is JSON on
stdout: `result`, or `error` with one line for the model.

It runs with `-I -S`: of this package it imports only what needs the standard library alone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from agentscope_tui.tools import files

    request = json.load(sys.stdin)
    arguments = request["arguments"]
    acts = {
        act.__name__: act for act in (files.read_text, files.write_text, files.edit_text, files.list_folder)
    }
    try:
        answer = {"result": acts[request["act"]](Path(arguments.pop("root")), **arguments)}
    except files.FileError as error:
        answer = {"error": str(error)}
    # Names and texts may hold halves of surrogate pairs, which only ASCII can carry.
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
