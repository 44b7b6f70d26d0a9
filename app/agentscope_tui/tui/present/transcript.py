"""Transcript entries as blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from agentscope_tui.events import Interrupted
from agentscope_tui.figures import clock, named, seconds, thousands
from agentscope_tui.session.state import SessionState
from agentscope_tui.session.views import CallView, Entry
from agentscope_tui.tui.present.words import TOOL_GLYPHS, TOOL_TONES, argument_summary, pretty_arguments
from agentscope_widgets.blocks import RESULT_RULE, Block
from agentscope_widgets.look import Tone

RESULT_SHOWN = 4000
"""Characters of a tool's result in the transcript; all of it is in the output pane."""

DECISIONS = {"edit": "edited", "refuse": "refused", "interrupted": "interrupted"}
"""What was done with a step that waited, other than letting it go on."""


def block_of(state: SessionState, position: int) -> Block:
    """The block that shows the entry at `position`."""
    entry = state.entries[position]
    text = entry.text
    match entry.kind:
        case "tool":
            call = state.call_view(entry.call_id or "")
            assert call is not None
            return _tool(entry, call)
        case "assistant":
            return _assistant(entry)
        case "reasoning":
            return _foldable(entry, "reasoning", folded=not entry.live)
        case "earlier":
            return _earlier(entry)
        case "user":
            return _block(entry, "user", text)
        case "steer":
            title = f"steer · in call #{entry.call}"
            return _block(entry, title, text, facts=tuple(filter(None, [entry.status])))
        case "paused":
            return _pause(entry, state.call_view(entry.call_id or ""))
        case "interrupted":
            return _block(entry, "■ interrupted", _truth(state, entry.interrupted), tone="warning")
        case "limit":
            return _block(entry, "▲ limit reached", text, tone="warning")
        case "error":
            return _block(entry, f"✗ {entry.status} error", _with_detail(entry), tone="error")
        case "reward":
            return _reward(entry)
        case "repair":
            return _block(entry, "mended before sending", text, tone="muted")
        case "note":
            return _block(entry, entry.status, text, tone="muted")
        case "extra":
            summary = " ".join(text[:400].split())
            return replace(_foldable(entry, entry.status, folded=True), format="json", summary=summary)
        case "ended":
            failed = entry.status != "ended"
            title = "✗ session failed" if failed else "session ended"
            return _block(entry, title, text, tone="error" if failed else "muted")
        case _:
            assert_never(entry.kind)


def _block(entry: Entry, title: str, body: str, *, tone: Tone = "normal", facts: Sequence[str] = ()) -> Block:
    """A block of plain text, with its call and its time at the right."""
    margin = (*facts, clock(entry.at))
    return Block(
        entry.key, entry.kind, title, body, call=entry.call, margin=margin, tone=tone, live=entry.live
    )


def _foldable(entry: Entry, title: str, *, folded: bool) -> Block:
    """A muted block that folds to its first line."""
    block = _block(entry, title, entry.text, tone="muted")
    return replace(block, foldable=True, folded=folded, summary=entry.text.strip().partition("\n")[0])


def _earlier(entry: Entry) -> Block:
    """A message of the conversation that the session started with; a tool's result is folded."""
    if entry.status == "tool":
        block = _foldable(entry, entry.status, folded=True)
    else:
        block = _block(entry, entry.status, entry.text, tone="muted")
    return replace(block, format="markdown" if entry.status == "assistant" else "plain", margin=("earlier",))


def _assistant(entry: Entry) -> Block:
    facts: list[str] = []
    if entry.duration is not None:
        facts.append(seconds(entry.duration))
    if entry.tokens is not None:
        facts.append(f"{thousands(entry.tokens)} tok{' replayed' if entry.replayed else ''}")
    title = "assistant"
    if entry.partial:
        title += " · cut off"
    if entry.finish_reason == "length":
        title += " · cut off at the output limit"
    if entry.edited:
        title += " · edited"
    block = _block(entry, title, entry.text, tone="warning" if entry.partial else "normal", facts=facts)
    return replace(block, format="markdown")


def _tool(entry: Entry, call: CallView) -> Block:
    """Folded to a line; unfolded it shows the arguments and the result."""
    facts: list[str] = [call.state]
    if call.duration is not None and call.state != "refused":
        facts.append(seconds(call.duration))
    if call.exit_code:
        facts.append(f"exit {call.exit_code}")
    marks = f"{' · own' if call.own else ''}{' · edited' if call.edited else ''}"
    title = f"{TOOL_GLYPHS[call.state]} {call.name or '…'}{marks}"
    block = _block(entry, title, _call_text(call), tone=TOOL_TONES[call.state], facts=facts)
    return replace(
        block,
        format="call",
        live=call.state in ("streaming", "running"),
        foldable=True,
        folded=True,
        summary=argument_summary(call),
    )


def _call_text(call: CallView) -> str:
    """The arguments, and what came of them."""
    result = call.content
    if len(result) > RESULT_SHOWN:
        more = len(result) - RESULT_SHOWN
        result = f"{result[:RESULT_SHOWN]}\n… {more} more characters: see the output pane"
    if call.reason and call.reason != call.content:
        result = f"{result}\n\n{call.reason}".lstrip("\n")
    arguments = pretty_arguments(call)
    return f"{arguments}{RESULT_RULE}{result}" if result else arguments


def _pause(entry: Entry, call: CallView | None) -> Block:
    """Where a step waits or has waited; a decision other than to go on is said."""
    name = call.name if call is not None else "the tool"
    places: dict[str, str] = {
        "completion": f"after call #{entry.call}",
        "tool_call": f"before {name}",
        "tool_result": f"after {name}",
        "failed_call": "after the failed call",
    }
    title = f"‖ paused {places[entry.status]}"
    if entry.duration is None:
        return _block(entry, title, "", tone="warning")
    if entry.detail != "pass":
        title += f" · {DECISIONS[entry.detail]}"
    return _block(entry, title, entry.text, tone="muted", facts=(seconds(entry.duration),))


def _reward(entry: Entry) -> Block:
    word = "score now" if entry.provisional else "reward"
    if entry.reward is None:
        title = f"✗ {'score now: ' if entry.provisional else ''}grader error ({entry.status})"
        return _block(entry, title, _with_detail(entry), tone="error")
    tone: Tone = "success" if entry.reward > 0 else "error"
    glyph = "★" if entry.reward > 0 else "☆"
    text = "\n".join(part for part in (entry.text, named(entry.metrics)) if part)
    return _block(entry, f"{glyph} {word} {entry.reward:g} · {entry.status}", text, tone=tone)


def _with_detail(entry: Entry) -> str:
    return f"{entry.text}\n{entry.detail}" if entry.detail else entry.text


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
