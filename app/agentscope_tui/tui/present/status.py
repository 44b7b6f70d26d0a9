"""The status line: what the session does, what it waits for, and what it has used."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from agentscope_tui.events import Paused
from agentscope_tui.figures import dollars, seconds, thousands
from agentscope_tui.session.state import SessionState
from agentscope_widgets.look import Tone
from agentscope_widgets.safe_text import safe_line

Segment = tuple[str, Tone]
"""Text and tone; the most important first."""


def segments_of(state: SessionState, now: datetime, hold: Paused | None = None) -> list[Segment]:
    """The status line of one session at the time `now`. `hold` is the step that keys act on; None: the one
    that waits longest."""
    if hold is None and state.holds:
        hold = state.holds[0]
    segments: list[Segment] = [
        _doing(state, now, hold),
        (state.mode + (" fine" if state.fine else ""), "muted"),
    ]
    if not state.runner.answering:
        segments.insert(0, ("RUNNER NOT ANSWERING", "error"))
    if not state.recorded:
        segments.insert(0, ("NOT RECORDED", "error"))
    if hold and (patience := hold.patience) is not None:
        left = patience - (now - hold.at).total_seconds()
        segments.append((f"the runner waits {seconds(max(left, 0.0))} more", "warning"))
    if hold and (commits := hold.commits_after) is not None:
        left = commits - (now - hold.at).total_seconds()
        told = f"an error can be told for {seconds(left)} more" if left > 0 else "too late to tell an error"
        segments.append((told, "warning"))
    segments.append((f"calls {state.calls_used}{_of(state.limit('calls'))}", "muted"))
    segments.append((f"actions {state.actions_used}{_of(state.limit('tool_actions'))}", "muted"))
    segments += sandbox_segments(state)
    if hold:
        segments.append((f"can {', '.join(hold.allows)}", "muted"))
    tokens = f"{thousands(state.input_tokens)} in {thousands(state.output_tokens)} out tok"
    segments.append((tokens, "muted"))
    if state.cost is not None:
        segments.append((dollars(state.cost), "muted"))
    if state.turn_started is not None:
        end = state.turn_ended or now
        segments.append((seconds(max((end - state.turn_started).total_seconds(), 0.0)), "muted"))
    segments.append((f"turn {state.turn}", "muted"))
    if state.reward is not None:
        segments.insert(1, (f"reward {state.reward:g}", "success" if state.reward > 0 else "error"))
    return segments


def sandbox_segments(state: SessionState) -> list[Segment]:
    """Whether tools are confined, and by what; and the agent's own program, if it has one. Of an imported
    session nobody knows."""
    started = state.started
    tools, agent = (started.confinement, started.agent_confinement) if started else ("none", "")
    segments: list[Segment] = []
    if tools:
        unconfined = tools == "none" and not agent
        segments.append(("NO SANDBOX", "warning") if unconfined else (f"sandbox {tools}", "muted"))
    if agent:
        segments.append(("agent runs as you" if agent == "none" else f"agent in {agent}", "muted"))
    return segments


def _doing(state: SessionState, now: datetime, hold: Paused | None) -> Segment:
    if hold is not None:
        more = f" (+{len(state.holds) - 1})" if len(state.holds) > 1 else ""
        call = state.call_view(hold.call_id) if hold.call_id else None
        name = call.name if call else "tool"
        match hold.step:
            case "completion":
                return f"PAUSED after call #{hold.call}{more}", "warning"
            case "tool_call":
                return f"PAUSED before {name}{more}", "warning"
            case "tool_result":
                return f"PAUSED after {name}{more}", "warning"
            case "failed_call":
                why = f": {safe_line(state.last_error, 70)}" if state.last_error else ""
                return f"CALL #{hold.call} FAILED{more}, r retries, x gives up{why}", "error"
    match state.status:
        case "starting":
            return "STARTING", "accent"
        case "interrupting":
            return "INTERRUPTING", "warning"
        case "ended":
            return "ENDED", "muted"
        case "failed":
            return "SESSION FAILED", "error"
        case "idle":
            return _idle(state)
        case "running":
            return _running(state, now)


def _idle(state: SessionState) -> Segment:
    match state.outcome:
        case None:
            return "IDLE", "muted"
        case "completed":
            return "DONE", "success"
        case "failed":
            return _with_reason("FAILED", state), "error"
        case "interrupted":
            return "INTERRUPTED", "warning"
        case "limit":
            return _with_reason("LIMIT", state), "warning"


def _with_reason(word: str, state: SessionState) -> str:
    return f"{word}: {safe_line(state.outcome_reason, 60)}" if state.outcome_reason else word


def _running(state: SessionState, now: datetime) -> Segment:
    live_from = state.started.parent_call if state.started else None
    if live_from is not None and state.call < live_from - 1 and _replays(state):
        return f"REPLAYING, call #{state.call} of {live_from - 1}", "accent"
    running = state.running_calls
    if running:
        call = running[0]
        since = (now - call.started).total_seconds() if call.started else 0.0
        return f"RUNNING {call.name} {seconds(max(since, 0.0))}", "accent"
    if state.retry is not None:
        left = state.retry.seconds - (now - state.retry.at).total_seconds()
        if left > 0:
            attempt = f"{state.retry.attempt}/{state.retry.of}"
            return f"RETRY {attempt} in {left:.0f} s: {safe_line(state.retry.reason, 60)}", "warning"
    if state.streaming_call is not None:
        return f"MODEL answering call #{state.streaming_call}", "accent"
    return "RUNNING", "accent"


def _replays(state: SessionState) -> bool:
    """Whether the last reply came from a recording."""
    replies = (entry for entry in reversed(state.entries) if entry.kind == "assistant")
    return any(entry.replayed for entry in islice(replies, 1))


def _of(limit: float | None) -> str:
    return "" if limit is None else f"/{limit:g}"
