"""Transcript entries as blocks."""

from __future__ import annotations

from agentscope_tui.events import Interrupted
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView, Entry
from agentscope_tui.tui.present.words import (
    TOOL_GLYPHS,
    TOOL_TONES,
    argument_summary,
    pretty_arguments,
    seconds,
    thousands,
)
from agentscope_widgets.blocks import Block
from agentscope_widgets.look import Tone

RESULT_SHOWN = 4000
"""Characters of a tool's result in the transcript; all of it is in the output pane."""


def block_of(state: SessionState, position: int) -> Block:
    """The block that shows the entry at `position`."""
    entry = state.entries[position]
    match entry.kind:
        case "tool":
            call = state.call_view(entry.call_id or "")
            assert call is not None
            return _tool(entry, call)
        case "assistant":
            return _assistant(entry)
        case "reasoning":
            first = entry.text.strip().partition("\n")[0]
            return Block(
                key=entry.key,
                kind="reasoning",
                title="reasoning",
                body=entry.text,
                format="plain",
                margin=(f"#{entry.call}",),
                live=entry.live,
                tone="muted",
                foldable=True,
                folded=not entry.live,
                summary=first,
            )
        case "user":
            return Block(key=entry.key, kind="user", title="user", body=entry.text, format="plain")
        case "steer":
            margin = (f"in call #{entry.call}",)
            return Block(
                key=entry.key, kind="steer", title="steer", body=entry.text, format="plain", margin=margin
            )
        case "interrupted":
            return _note(entry, "interrupted", "■ interrupted", _truth(state, entry.interrupted), "warning")
        case "limit":
            return _note(entry, "limit", "▲ limit reached", entry.text, "warning")
        case "error":
            body = f"{entry.text}\n{entry.detail}" if entry.detail else entry.text
            return _note(entry, "error", f"✗ {entry.status} error", body, "error")
        case "reward":
            return _reward(entry)
        case "repair":
            return _note(entry, "note", "mended before sending", entry.text, "muted")
        case "note":
            return _note(entry, "note", "model changed", entry.text, "muted")
        case "ended":
            title = "session ended" if entry.status == "ended" else "✗ session failed"
            return _note(entry, "note", title, entry.text, "muted" if entry.status == "ended" else "error")


def _note(entry: Entry, kind: str, title: str, body: str, tone: Tone) -> Block:
    margin = () if entry.call is None else (f"#{entry.call}",)
    return Block(key=entry.key, kind=kind, title=title, body=body, format="plain", tone=tone, margin=margin)


def _assistant(entry: Entry) -> Block:
    margin = [f"#{entry.call}"]
    if entry.duration is not None:
        margin.append(seconds(entry.duration))
    if entry.tokens is not None:
        margin.append(f"{thousands(entry.tokens)} tok")
    title = "assistant"
    if entry.partial:
        title += " · cut off"
    if entry.finish_reason == "length":
        title += " · cut off at the output limit"
    if entry.edited:
        title += " · edited"
    return Block(
        key=entry.key,
        kind="assistant",
        title=title,
        body=entry.text,
        format="markdown",
        margin=tuple(margin),
        live=entry.live,
        tone="warning" if entry.partial else "normal",
    )


def _tool(entry: Entry, call: CallView) -> Block:
    """Folded to a line; unfolded it shows the arguments and the result."""
    word = f"{TOOL_GLYPHS[call.state]} {call.name or '…'}"
    margin: list[str] = [call.state]
    if call.duration is not None and call.state != "refused":
        margin.append(seconds(call.duration))
    if call.exit_code:
        margin.append(f"exit {call.exit_code}")
    body = pretty_arguments(call)
    if call.content:
        result = call.content
        if len(result) > RESULT_SHOWN:
            more = len(result) - RESULT_SHOWN
            result = f"{result[:RESULT_SHOWN]}\n… {more} more characters: see the output pane"
        body += f"\n\n── result ──\n{result}"
    if call.reason and call.reason != call.content:
        body += f"\n\n{call.reason}"
    return Block(
        key=entry.key,
        kind="tool",
        title=f"{word}{' · edited' if call.edited else ''}",
        body=body,
        format="ansi",
        margin=tuple(margin),
        live=call.state in ("streaming", "running"),
        tone=TOOL_TONES[call.state],
        foldable=True,
        folded=True,
        summary=argument_summary(call),
    )


def _reward(entry: Entry) -> Block:
    if entry.reward is None:
        body = f"{entry.text}\n{entry.detail}" if entry.detail else entry.text
        return _note(entry, "error", f"✗ grader error ({entry.status})", body, "error")
    tone: Tone = "success" if entry.reward > 0 else "error"
    glyph = "★" if entry.reward > 0 else "☆"
    return _note(entry, "reward", f"{glyph} reward {entry.reward:g} · {entry.status}", entry.text, tone)


def _truth(state: SessionState, event: Interrupted | None) -> str:
    """What an interrupt stopped, what had finished, and what may have changed something."""
    if event is None:
        return ""
    lines = [event.reason] if event.reason else []
    if event.model_call is not None:
        lines.append(f"model call #{event.model_call}: cut off")
    for word, ids in (
        ("finished before", event.finished),
        ("killed", event.killed),
        ("never run", event.not_run),
    ):
        if ids:
            lines.append(f"{word}: {_names(state, ids)}")
    if event.side_effects:
        lines.append(f"may have changed something: {_names(state, event.side_effects)}")
    return "\n".join(lines)


def _names(state: SessionState, ids: list[str]) -> str:
    calls = [state.call_view(call_id) for call_id in ids]
    return ", ".join(f"{call.name} (#{call.call})" for call in calls if call is not None)
