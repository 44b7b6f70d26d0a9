"""Streams of the Messages API, event by event, for `RawServer`."""

from __future__ import annotations

import json
from typing import Any

from fakes.raw_server import Answer, stream


def sent(kind: str, **fields: Any) -> bytes:
    """One event; its name stands also in the data."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def start(**usage: int) -> bytes:
    return sent("message_start", message={"id": "msg_1", "role": "assistant", "model": "c-1", "usage": usage})


def opened(index: int, **block: Any) -> bytes:
    return sent("content_block_start", index=index, content_block=block)


def grown(index: int, kind: str, **fields: Any) -> bytes:
    return sent("content_block_delta", index=index, delta={"type": kind, **fields})


def stopped(index: int) -> bytes:
    return sent("content_block_stop", index=index)


def finish(reason: str, **usage: int) -> bytes:
    return sent("message_delta", delta={"stop_reason": reason}, usage=usage) + sent("message_stop")


def text_block(index: int, text: str) -> bytes:
    return opened(index, type="text", text="") + grown(index, "text_delta", text=text) + stopped(index)


def call_block(index: int, call_id: str, name: str, *pieces: str) -> bytes:
    written = b"".join(grown(index, "input_json_delta", partial_json=piece) for piece in ("", *pieces))
    return opened(index, type="tool_use", id=call_id, name=name, input={}) + written + stopped(index)


def replies(text: str) -> Answer:
    """A whole, correct answer."""
    return stream(start(input_tokens=3), text_block(0, text), finish("end_turn", output_tokens=2))
