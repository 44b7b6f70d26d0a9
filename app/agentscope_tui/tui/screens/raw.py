"""The raw request and response of one model call, as they went over the wire; keys are not in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from agentscope_tui.tui.screens.detail import DetailScreen
from agentscope_widgets.blocks import Block

NOTHING = "There is none: the model does not speak over a network, or the call was never sent."


class RawScreen(DetailScreen):
    """Headers, status and chunks of a call, from the file that was written as it went."""

    HEADING: ClassVar[str] = "Raw call"
    HAS_JSON: ClassVar[bool] = False

    def __init__(self, file: Path, call: int) -> None:
        super().__init__()
        self._file = file
        self._call = call

    def blocks(self, as_json: bool) -> Sequence[Block]:
        try:
            text = self._file.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return [Block(key="raw", title=f"call #{self._call}", body=NOTHING, tone="muted")]
        except OSError as error:
            body = f"It cannot be read: {error.strerror}"
            return [Block(key="raw", title=f"call #{self._call}", body=body, tone="error")]
        return [Block(key="raw", title=f"call #{self._call}", body=text, margin=(str(self._file),))]
