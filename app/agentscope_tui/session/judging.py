"""A model that judges answers by a rubric, each time in a session of its own, recorded like any other.

It has one tool, `verdict`. Arguments that do not fit are its error result, so that the judge can put them
right; a successful call ends the turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentscope_tui import __version__
from agentscope_tui.clock import Clock
from agentscope_tui.config import Config
from agentscope_tui.datasets.task import Task
from agentscope_tui.errors import UserError
from agentscope_tui.grading.grader import GradeInput, GraderError
from agentscope_tui.grading.rubric import Criterion, Verdict
from agentscope_tui.model_choice import check_model, model_of, model_settings
from agentscope_tui.models.wire_log import WireFolder
from agentscope_tui.runners.source import BuiltinChannel
from agentscope_tui.secrets import MASKER
from agentscope_tui.session.kept_files import KeptFiles
from agentscope_tui.session.limits import Limits
from agentscope_tui.session.open_session import OpenSession
from agentscope_tui.session.session import Session
from agentscope_tui.session.settings import SessionSettings
from agentscope_tui.session.state import SessionState
from agentscope_tui.store.folders import JUDGE_OF, make_folder
from agentscope_tui.store.recorded_bus import recorded_bus
from agentscope_tui.tools.spec import OnOutput, ToolOutcome

VERDICT = "verdict"
_CALLS = 4
"""Model calls that a judge has for one message."""
_REMINDER = "You have not called the tool `verdict` with all scores. Call it now."
_OF_ONE_PROVIDER = ("base_url", "api_key", "api_key_env", "api_key_command")


class ModelJudge:
    """Asks the model called `name`; its sessions go into the folder `sessions`."""

    def __init__(self, config: Config, name: str, sessions: Path, clock: Clock) -> None:
        self._config = _for_judge(config, name)
        self._name = name
        self._sessions = sessions
        self._clock = clock

    def check(self) -> None:
        """Find out whether there is such a model, and its key.

        Raises:
            UserError: there is none.
        """
        check_model(self._config, self._name)

    async def __call__(
        self, system: str, question: str, criteria: Sequence[Criterion], given: GradeInput
    ) -> Verdict:
        timeout = self._config.settings.grading.timeout
        tool = _VerdictTool(criteria)
        state = SessionState()
        opening = self._opened(MASKER.mask(system), MASKER.mask(question), given, tool)
        try:
            async with (
                asyncio.timeout(timeout),
                aclosing(await opening) as opened,
            ):
                opened.bus.subscribe(state.apply)
                await opened.start()
                await opened.session.settled()
                if tool.scores is None and state.outcome == "completed":
                    opened.session.send(_REMINDER)
                    await opened.session.settled()
        except TimeoutError:
            raise GraderError(
                f"the judge {self._name} took longer than {timeout:g} s (setting grading.timeout)"
            ) from None
        except UserError as error:
            raise GraderError(f"the judge {self._name}: {error}") from error
        session = opened.folder.path.name
        if tool.scores is None:
            why = state.last_error or state.outcome_reason or "it never called its tool with all scores"
            raise GraderError(f"the judge {self._name} came to no verdict: {why} (session {session})")
        return Verdict(tool.scores, tool.reason, session)

    async def _opened(self, system: str, question: str, given: GradeInput, tool: _VerdictTool) -> OpenSession:
        settings, now = self._config.settings, self._clock.now()
        session_id = f"{now:%Y%m%d-%H%M%S}-judge-{self._clock.new_id()[:8]}"
        meta: dict[str, Any] = {
            "session_id": session_id,
            "version": __version__,
            "created": now.isoformat(),
            "name": f"judge of {given.session}",
            "runner": "builtin",
            "model": self._name,
            JUDGE_OF: given.session,
            "judged_row": given.task.index,
        }
        model = model_of(self._config, self._name)
        try:
            folder = await asyncio.to_thread(
                make_folder, self._sessions, session_id, meta, lambda files: None
            )
            bus, recorder = recorded_bus(folder.path, session_id, self._clock)
        except BaseException:
            await model.aclose()
            raise
        session = Session(
            SessionSettings(
                system=system,
                model=replace(
                    model_settings(self._config),
                    temperature=settings.grading.judge_temperature,
                    set_by_user=frozenset({"temperature"}),
                ),
                limits=Limits(calls=_CALLS),
                mode="run",
                patient=False,
                folder=folder.path,
            ),
            channel=BuiltinChannel(last_tool=VERDICT),
            model=model,
            tools=tool,
            bus=bus,
            wire=WireFolder(folder.wire),
            caught_up=recorder.caught_up,
            clock=self._clock,
        )
        task = Task(index=given.task.index, line=1, prompt=question)
        return OpenSession(
            task, folder, session, recorder, KeptFiles(folder, bus.publish, wanted=lambda call: False)
        )


class _VerdictTool:
    """The one tool of a judge; `scores` is None until it was called as it should be."""

    confinement = ""

    def __init__(self, criteria: Sequence[Criterion]) -> None:
        self._names = [one.name for one in criteria]
        self.scores: Mapping[str, float] | None = None
        self.reason = ""

    @property
    def specs(self) -> Sequence[dict[str, Any]]:
        score = {"type": "number", "minimum": 0, "maximum": 1}
        scores = {
            "type": "object",
            "description": "A score from 0 to 1 for each criterion.",
            "properties": dict.fromkeys(self._names, score),
            "required": self._names,
            "additionalProperties": False,
        }
        reason = {"type": "string", "description": "Why, in one or two sentences."}
        return [
            {
                "name": VERDICT,
                "description": "Give the verdict: once, with the scores of all criteria.",
                "parameters": {
                    "type": "object",
                    "properties": {"scores": scores, "reason": reason},
                    "required": ["scores", "reason"],
                },
            }
        ]

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        if name != VERDICT:
            raise UserError(f"there is only the tool `{VERDICT}`")
        self.scores = _checked_scores(arguments.get("scores"), self._names)
        self.reason = " ".join(str(arguments.get("reason", "")).split())[:2000]
        return ToolOutcome(content="The verdict is taken down.")

    async def aclose(self) -> None:
        """Nothing of it runs."""


def _checked_scores(scores: object, names: Sequence[str]) -> dict[str, float]:
    if not isinstance(scores, dict):
        raise UserError(f"`scores` is an object with a number from 0 to 1 for each of {', '.join(names)}")
    if unknown := sorted(str(name) for name in scores if name not in names):
        raise UserError(f"there is no criterion {unknown[0]!r}: score {', '.join(names)}")
    for name in names:
        if not _is_score(scores.get(name)):
            raise UserError(f"the score of {name!r} must be a number from 0 to 1")
    return {name: float(scores[name]) for name in names}


def _is_score(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _for_judge(config: Config, name: str) -> Config:
    """The settings with which the judge's model is reached: another provider than that of the agent's model
    gets neither its address nor its key."""
    model = config.settings.model
    if model.name is not None and _provider(name) == _provider(model.name):
        return config
    own = model.model_copy(update={**dict.fromkeys(_OF_ONE_PROVIDER), "params": {}})
    return replace(config, settings=config.settings.model_copy(update={"model": own}))


def _provider(name: str) -> str:
    return name.partition(":")[0]
