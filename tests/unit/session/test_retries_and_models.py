"""What a session tells of a model's retries, keeps of the wire, and does when another model is picked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from agentscope_tui.events import AssistantMessage, ModelChanged, RetryScheduled, UsageReported
from agentscope_tui.models.chat import ChatRequest, Completion, Delta, ModelError, RetryNotice, Usage
from agentscope_tui.models.wire_log import WireFolder, WireLog
from agentscope_tui.session.settings import ModelSettings, Price
from fakes.engine import FakeModel, says
from fakes.session_rig import Rig


class Hooked(FakeModel):
    """Retries once, and speaks over a wire."""

    name = "hooked"

    async def complete(
        self,
        request: ChatRequest,
        on_delta: Callable[[Delta], None],
        *,
        on_retry: Callable[[RetryNotice], None] | None = None,
        wire: WireLog | None = None,
        **_hooks: object,
    ) -> Completion:
        assert on_retry is not None
        on_retry(RetryNotice(attempt=2, of=4, seconds=1.5, reason="the server is busy"))
        if wire is not None:
            wire.request(
                "POST",
                "http://model",
                [("authorization", "sk-1-of-tests")],
                "the body with sk-1-of-tests",
                ["sk-1-of-tests"],
            )
            wire.end("done")
        return await super().complete(request, on_delta)


async def test_a_retry_is_told_with_its_wait_and_over_once_the_call_goes_on() -> None:
    async with Rig(Hooked(says("at last"))) as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.of(RetryScheduled))
        await rig.settled()
        retry = rig.of(RetryScheduled)[0]
        assert (retry.call, retry.attempt, retry.of, retry.seconds) == (1, 2, 4, 1.5)
        assert retry.reason == "the server is busy"
        assert rig.state.retry is None


async def test_the_raw_call_is_kept_without_the_key(tmp_path: Path) -> None:
    wire = WireFolder(tmp_path / "wire")
    async with Rig(Hooked(says("hi")), wire=wire) as rig:
        rig.session.send("go")
        await rig.settled()
    text = wire.path(1).read_text()
    assert "POST http://model" in text
    assert "the body with ***" in text
    assert "sk-1-of-tests" not in text


async def test_a_failed_call_is_sent_again_to_another_model() -> None:
    broken, other = FakeModel(ModelError("no such model")), FakeModel(says("the other one answers"))
    other.name = "other"
    settings = ModelSettings(prices={"other": Price(input=1_000_000, output=0)})
    async with Rig(broken, model=settings, patient=True) as rig:
        rig.session.send("go")
        await rig.until(lambda: rig.state.holds)
        await rig.session.change_model(other)
        assert rig.session.retry()
        await rig.settled()
        assert rig.of(ModelChanged)[0].model == rig.state.model == "other"
        assert [message.text for message in rig.of(AssistantMessage)] == ["the other one answers"]
        assert rig.of(UsageReported)[-1].cost == 10.0
        assert broken.closed
    assert other.closed


async def test_an_interrupted_call_is_metered_by_what_the_provider_told() -> None:
    entered = asyncio.Event()

    async def stream(request: ChatRequest, on_delta: Callable[[Delta], None]) -> Completion:
        on_delta(Delta(text="so", usage=Usage(input_tokens=321, cached_tokens=300, output_tokens=7)))
        entered.set()
        await asyncio.Event().wait()
        raise AssertionError("never reached")

    async with Rig(FakeModel(stream)) as rig:
        rig.session.send("go")
        await entered.wait()
        rig.session.interrupt()
        await rig.settled()
        usage = rig.of(UsageReported)[0]
        assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (321, 300, 7)
        assert usage.partial
