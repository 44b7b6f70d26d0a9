"""The declarations of the built-in tools, as the model sees them."""

from __future__ import annotations

from typing import Any


def _declare(name: str, description: str, **parameters: str) -> dict[str, Any]:
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "parameters": schema}


_PATH = "Path of the file, relative to the working folder or absolute inside it."

BASH = _declare(
    "bash",
    "Run a shell command in the working folder and return its output (stdout and stderr). Each call starts a "
    "new shell with an empty stdin: `cd` and variables do not carry over, files do. A nonzero exit code is "
    "shown in the last line.",
    command="The command, as given to `bash -c`.",
)
READ_FILE = _declare("read_file", "Return the content of a text file.", path=_PATH)
WRITE_FILE = _declare(
    "write_file",
    "Write a text file: replaces what is there, creates missing folders.",
    path=_PATH,
    content="The whole content of the file.",
)
EDIT_FILE = _declare(
    "edit_file",
    "Replace one piece of text in a file. `old` must occur in it exactly once.",
    path=_PATH,
    old="The exact text to replace, with its spaces and line breaks.",
    new="The text to put there.",
)
LIST_FILES = _declare(
    "list_files",
    "List the names in a folder, sorted; folders end with `/`.",
    path="Path of the folder; `.` is the working folder.",
)
SUBMIT = _declare(
    "submit",
    "Hand in the final answer. Call it once, when the task is done.",
    answer="The answer.",
)

ALL = (BASH, READ_FILE, WRITE_FILE, EDIT_FILE, LIST_FILES, SUBMIT)
NAMES = tuple(str(spec["name"]) for spec in ALL)
