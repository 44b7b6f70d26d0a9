"""A dataset's row as JSON to read and to copy."""

from __future__ import annotations

import json
import re

from agentscope_tui.datasets.raw import RawRow
from agentscope_tui.datasets.task import RowError
from agentscope_widgets.safe_text import safe_text

_OTHER = re.compile("[^\n -~]+")


def row_json(row: RawRow | RowError) -> str:
    """The row, indented; what a terminal would obey is escaped, so that the text is still JSON. Or the reason
    why there is none.
    """
    if isinstance(row, RowError):
        return str(row)
    text = json.dumps(row.value, indent=2, ensure_ascii=False, default=str)
    return text if text.isascii() and text.isprintable() else _OTHER.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    run = match[0]
    if safe_text(run) == run:
        return run
    shown = "".join(one if safe_text(one) == one else _escape(one) for one in run)
    return shown if safe_text(shown) == shown else _escape(run)


def _escape(text: str) -> str:
    return json.dumps(text)[1:-1]
