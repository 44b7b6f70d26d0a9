"""What an MCP server answers, as text: results for the model, progress for the call's output."""

from __future__ import annotations

import json
from typing import assert_never

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)


def result_text(result: CallToolResult) -> str:
    """The parts that are text, joined; the others are named. Without parts, the structured result as JSON."""
    if not result.content and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(map(_part, result.content))


def progress_text(progress: float, total: float | None, message: str | None) -> str:
    """One notification as a line: `3/10 reading`."""
    share = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
    return f"{share} {message}\n" if message else f"{share}\n"


def _part(part: ContentBlock) -> str:
    match part:
        case TextContent():
            return part.text
        case ImageContent():
            return f"[image {part.mime_type}, {_size(part.data)}]"
        case AudioContent():
            return f"[audio {part.mime_type}, {_size(part.data)}]"
        case ResourceLink():
            return f"[resource {part.name}: {part.uri}]"
        case EmbeddedResource():
            return _resource(part.resource)
        case _:
            assert_never(part)


def _resource(resource: TextResourceContents | BlobResourceContents) -> str:
    match resource:
        case TextResourceContents():
            return f"[resource {resource.uri}]\n{resource.text}"
        case BlobResourceContents():
            kind = resource.mime_type or "of unknown type"
            return f"[resource {resource.uri} {kind}, {_size(resource.blob)}]"
        case _:
            assert_never(resource)


def _size(base64: str) -> str:
    return f"{len(base64.rstrip('=')) * 3 // 4:,} bytes"
