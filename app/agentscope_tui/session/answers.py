"""The model's answers in a timeline, as they stream: reasoning, text, and the tool calls they propose."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agentscope_tui.events import AssistantDelta, AssistantMessage, LlmRequestSent, UsageReported
from agentscope_tui.session.timeline import Timeline
from agentscope_tui.session.views import CallView, Entry


class Answers:
    """Several may stream at once; each grows the newest entry of its call."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._places: dict[int, int] = {}
        """The entry of each model call's answer."""
        self._streaming: set[int] = set()
        self._reasoning: dict[int, int] = {}
        self._proposals: dict[tuple[int, int], int] = {}

    @property
    def streaming(self) -> int | None:
        """The call whose answer streams now; of several the newest."""
        return max(self._streaming, default=None)

    def unfinished(self) -> list[tuple[int, str, str]]:
        """The calls whose answers stream now, with their text and reasoning so far."""
        found: list[tuple[int, str, str]] = []
        for call in sorted(self._streaming):
            reasoning = self._reasoning.get(call)
            entries = self._timeline.entries
            found.append(
                (call, entries[self._places[call]].text, "" if reasoning is None else entries[reasoning].text)
            )
        return found

    def begin(self, event: LlmRequestSent) -> None:
        """A call was sent: an empty answer, for now."""
        self._streaming.add(event.call)
        entry = Entry(f"assistant {event.call}.{event.attempt}", "assistant", event.at, call=event.call)
        entry.live = True
        self._places[event.call] = self._timeline.add(entry)

    def add_before(self, entry: Entry, call: int | None) -> int:
        """Add what belongs before an answer that has just begun: a steer of its request, its reasoning."""
        last = len(self._timeline.entries) - 1
        if call is None or self._places.get(call, -1) != last:
            return self._timeline.add(entry)
        place, self._places[call] = self._timeline.add_before(entry, last)
        return place

    def grow(self, event: AssistantDelta) -> None:
        """Something more came."""
        if event.call not in self._places:
            return
        if event.reasoning:
            self._reason(event.call, event.at, event.reasoning, more=True)
        self._timeline.touch(self._places[event.call]).text += event.text
        for piece in event.tool_calls:
            self._propose_piece(event, piece)

    def finish(self, event: AssistantMessage) -> None:
        """The whole answer, or what it became by an edit."""
        if event.call not in self._places:
            return
        if not event.edited and (event.reasoning or event.call in self._reasoning):
            self._reason(event.call, event.at, event.reasoning, more=False)
        entry = self._timeline.touch(self._places[event.call])
        entry.text = event.text
        entry.live, entry.partial, entry.edited = False, event.partial, event.edited
        entry.finish_reason = event.finish_reason
        if not event.edited:
            # 0 is what an imported file does not tell.
            entry.duration = event.duration or None
        self._streaming.discard(event.call)
        self._propose(event)

    def use(self, event: UsageReported) -> None:
        """What a call took."""
        if event.call in self._places:
            entry = self._timeline.touch(self._places[event.call])
            entry.tokens, entry.replayed = event.output_tokens, event.replayed

    def cut_off(self, only: int | None = None) -> None:
        """What still streamed (of one call) comes to no end."""
        self._streaming -= {only} if only is not None else set(self._streaming)
        for call, position in self._places.items():
            if self._timeline.entries[position].live and only in (None, call):
                entry = self._timeline.touch(position)
                entry.live, entry.partial = False, True

    def _reason(self, call: int, at: datetime, text: str, *, more: bool) -> None:
        """Reasoning is an entry of its own, before the answer; `more` says that it goes on."""
        position = self._reasoning.get(call)
        if position is None:
            entry = Entry(f"reasoning {at.timestamp()}", "reasoning", at, call=call)
            position = self._reasoning[call] = self.add_before(entry, call)
        entry = self._timeline.touch(position)
        entry.text = entry.text + text if more else text
        entry.live = more
        if not more:
            del self._reasoning[call]

    def _propose_piece(self, event: AssistantDelta, piece: dict[str, Any]) -> None:
        """A tool call that streams: it gets its id, and its final form, with the whole message."""
        index = (event.call, int(piece["index"]))
        position = self._proposals.get(index)
        if position is None:
            view = CallView(f"streaming {event.call}.{index[1]}", event.call, "", state="streaming")
            position = self._proposals[index] = self._timeline.add_call(view, event.at)
        view = self._timeline.touch_call(position)
        view.name += str(piece.get("name", ""))
        view.arguments += str(piece.get("arguments", ""))

    def _propose(self, event: AssistantMessage) -> None:
        timeline = self._timeline
        streamed = sorted(index for index in self._proposals if index[0] == event.call)
        places = [self._proposals.pop(index) for index in streamed]
        for order, part in enumerate(event.tool_calls):
            view = CallView(part.id, event.call, part.function.name, part.function.arguments)
            if order < len(places):
                timeline.replace_call(places[order], view, event.at)
            elif (known := timeline.place_of(part.id)) is not None:
                call = timeline.touch_call(known)
                call.arguments, call.edited = view.arguments, event.edited
            else:
                timeline.add_call(view, event.at)
        for place in places[len(event.tool_calls) :]:
            timeline.touch_call(place).state = "interrupted" if event.partial else "refused"
