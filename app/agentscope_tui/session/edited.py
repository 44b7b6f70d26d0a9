"""What the user edited as it is shown, with the secrets in it again: on screen they are masked."""

from __future__ import annotations

from agentscope_tui.models.chat import Completion
from agentscope_tui.secrets import MASKER


def with_secrets(edited: Completion, original: Completion) -> Completion:
    """An edited completion with the secrets of the model's in place of their masks."""
    texts = _texts(edited)
    text, *arguments = MASKER.restored(texts, _texts(original))
    parts = tuple(
        part.model_copy(update={"function": part.function.model_copy(update={"arguments": written})})
        for part, written in zip(edited.tool_calls, arguments, strict=True)
    )
    return edited.model_copy(update={"text": text, "tool_calls": parts})


def _texts(completion: Completion) -> list[str]:
    return [completion.text, *(part.function.arguments for part in completion.tool_calls)]
