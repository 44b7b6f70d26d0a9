"""What no session can run with is refused before anything starts."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_tui.errors import UsageError
from agentscope_tui.models.chat import Usage
from agentscope_tui.session.limits import Limits
from agentscope_tui.session.settings import ModelSettings, Price, SessionSettings
from agentscope_tui.tools.spec import ToolSpecError
from fakes.engine import FakeModel, FakeTools, tool
from fakes.session_rig import Rig


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"model": ModelSettings(max_output_tokens=0)}, "max_output_tokens must be at least 1"),
        ({"model": ModelSettings(max_output_tokens=-5)}, "max_output_tokens must be at least 1"),
        ({"model": ModelSettings(temperature=-0.1)}, "temperature must be from 0 to 2"),
        ({"model": ModelSettings(temperature=2.1)}, "temperature must be from 0 to 2"),
        ({"model": ModelSettings(temperature=float("nan"))}, "temperature must be from 0 to 2"),
        ({"conversation_scope": "forever"}, "conversation_scope must be `session` or `turn`"),
        ({"limits": Limits(calls=0)}, r"limits\.calls must be at least 1"),
    ],
)
def test_a_setting_out_of_range_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as raised:
        SessionSettings(**settings)
    assert isinstance(raised.value, UsageError)


def test_the_ends_of_the_ranges_are_allowed() -> None:
    SessionSettings(model=ModelSettings(max_output_tokens=1, temperature=0))
    SessionSettings(model=ModelSettings(temperature=2))
    SessionSettings(model=ModelSettings(temperature=None))


@pytest.mark.parametrize(
    ("specs", "reason"),
    [
        ([{"description": "nameless"}], "tool 0: name is missing"),
        ([tool("bash"), tool("bash")], r"tool 1 \('bash'\): tool 0 has the same name"),
    ],
)
async def test_a_bad_tool_is_refused_before_the_runner_hears_anything(
    specs: list[dict[str, Any]], reason: str
) -> None:
    tools = FakeTools()
    tools.specs = specs
    rig = Rig(FakeModel(), tools, own_runner=True)
    with pytest.raises(ToolSpecError, match=reason):
        await rig.session.start()
    assert rig.events == []
    await rig.session.end()
    assert await rig.runner.rest() == []
    assert tools.closed


def test_cached_tokens_have_a_price_of_their_own() -> None:
    usage = {"input_tokens": 1_000_000, "output_tokens": 100_000, "cached_tokens": 400_000}
    assert Price(2.0, 10.0, 0.5).of(Usage(**usage)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 1)
    assert Price(2.0, 10.0).of(Usage(**usage)) == pytest.approx(3.0)
