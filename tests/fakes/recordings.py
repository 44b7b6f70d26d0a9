"""Recordings on disk, as a session leaves them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentscope_tui.event_lines import event_to_json
from agentscope_tui.events import SessionEvent


def recording(
    folder: Path,
    events: Sequence[SessionEvent],
    *,
    outputs: Mapping[str, str] = {},
    meta: Mapping[str, Any] = {},
) -> Path:
    """A session's folder with these events and output files."""
    (folder / "outputs").mkdir(parents=True)
    (folder / "files").mkdir()
    (folder / "events.jsonl").write_text("".join(event_to_json(event) + "\n" for event in events))
    (folder / "meta.json").write_text(json.dumps({"session_id": folder.name, **meta}))
    for name, text in outputs.items():
        (folder / "outputs" / name).write_text(text)
    return folder
