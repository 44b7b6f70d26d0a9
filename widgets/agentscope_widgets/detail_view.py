"""A read-only pane for long structured text: messages, tools, help. It opens at its start and stays."""

from __future__ import annotations

from typing import ClassVar

from .block_view import BlockView


class DetailView(BlockView):
    """A `BlockView` whose blocks are the sections of one text; sections may fold."""

    FOLLOWS: ClassVar[bool] = False
