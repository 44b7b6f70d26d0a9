"""The scripted model: which reply it gives, how it streams, and what it says about a bad script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentscope_tui.models.chat import ChatRequest, Completion, Delta, Message, ModelError
from agentscope_tui.models.script import ScriptError, ScriptFile, load_script
from agentscope_tui.models.scripted import ScriptedModel


class Sleeper:
    """Remembers how long was slept, and does not sleep."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


def model_of(
    *replies: dict[str, Any], sleep: Callable[[float], Any] | None = None, **script: Any
) -> ScriptedModel:
    file = ScriptFile.model_validate({"scripts": [{**script, "replies": replies}]})
    return ScriptedModel(file, name="scripted:test", sleep=sleep or Sleeper())


def user(text: str) -> Message:
    return {"role": "user", "content": text}


TASK = user("the task")
RESULT: Message = {"role": "tool", "tool_call_id": "call_1", "content": "exit code 1: boom"}


async def ask(model: ScriptedModel, *messages: Message) -> Completion:
    return await model.complete(ChatRequest(messages=list(messages or [TASK])), lambda piece: None)


async def texts(model: ScriptedModel, *lasts: Message) -> list[str]:
    """The replies to requests that end with these messages, one after the other."""
    return [(await ask(model, TASK, last)).text for last in lasts]


async def test_replies_come_in_order_and_then_the_end_is_told() -> None:
    model = model_of({"text": "one"}, {"text": "two"})
    assert await texts(model, TASK, RESULT) == ["one", "two"]
    end = await ask(model)
    assert "script ends here" in end.text
    assert end.finish_reason == "stop"


async def test_everything_streams_in_pieces_that_add_up() -> None:
    model = model_of(
        {
            "reasoning": "let me\nthink",
            "text": "  # Title\n\nsome words, andaverylongwordwithoutanyspace 😀\n",
            "tool_calls": [
                {"name": "f", "arguments": {"path": "a b"}},
                {"name": "g", "arguments": "{broken"},
            ],
        }
    )
    deltas: list[Delta] = []
    completion = await model.complete(ChatRequest(messages=[TASK]), deltas.append)
    calls = [call for delta in deltas for call in delta.tool_calls]
    assert "".join(delta.text for delta in deltas) == completion.text
    assert "".join(delta.reasoning for delta in deltas) == completion.reasoning == "let me\nthink"
    for place, part in enumerate(completion.tool_calls):
        pieces = [call for call in calls if call.index == place]
        assert "".join(piece.arguments for piece in pieces) == part.function.arguments
        assert (pieces[0].id, pieces[0].name) == (part.id, part.function.name)
        assert not any(piece.id or piece.name for piece in pieces[1:])
    assert [part.function.arguments for part in completion.tool_calls] == ['{"path": "a b"}', "{broken"]
    assert completion.finish_reason == "tool_calls"
    assert max(len(delta.text) for delta in deltas) < 15


async def test_ids_of_calls_are_unique_in_the_session() -> None:
    two = {"tool_calls": [{"name": "f"}, {"name": "f"}]}
    model = model_of(two, two)
    ids = [part.id for _ in range(2) for part in (await ask(model)).tool_calls]
    assert ids == ["call_1", "call_2", "call_3", "call_4"]


async def test_delay_and_speed() -> None:
    sleeper = Sleeper()
    await ask(model_of({"text": "a b c", "delay": 2.5, "tokens_per_second": 4}, sleep=sleeper))
    assert sleeper.slept == [2.5, 0.25, 0.25, 0.25]


async def test_usage_is_estimated_from_lengths() -> None:
    usage = (await ask(model_of({"text": "x" * 400}), user("y" * 4000))).usage
    assert (usage.output_tokens, usage.partial) == (100, False)
    assert 1000 <= usage.input_tokens < 1020


CONDITIONS: dict[str, tuple[dict[str, Any], Message, bool]] = {
    "role": ({"role": "tool"}, RESULT, True),
    "another role": ({"role": "user"}, RESULT, False),
    "contains": ({"contains": "boom"}, RESULT, True),
    "does not contain": ({"contains": "Boom"}, RESULT, False),
    "matches": ({"matches": r"code [1-9]\b"}, RESULT, True),
    "does not match": ({"matches": "^code"}, RESULT, False),
    "all hold": ({"role": "tool", "contains": "boom", "matches": "exit"}, RESULT, True),
    "one does not": ({"role": "tool", "contains": "boom", "matches": "^boom"}, RESULT, False),
    "content in parts": (
        {"contains": "ab"},
        {"role": "user", "content": [{"text": "a"}, {"text": "b"}]},
        True,
    ),
    "no content": ({"contains": "x"}, {"role": "assistant", "content": None}, False),
}


@pytest.mark.parametrize(("when", "last", "holds"), CONDITIONS.values(), ids=CONDITIONS.keys())
async def test_conditions(when: dict[str, Any], last: Message, holds: bool) -> None:
    model = model_of({"text": "conditional", "when": when}, {"text": "else"})
    assert await texts(model, last) == ["conditional" if holds else "else"]


async def test_a_condition_that_does_not_hold_uses_nothing_up() -> None:
    model = model_of({"text": "mended", "when": {"contains": "boom"}}, {"text": "one"}, {"text": "two"})
    assert await texts(model, TASK, RESULT, RESULT) == ["one", "mended", "two"]


async def test_a_branch_replaces_what_is_left() -> None:
    steered = {"text": "as you say", "when": {"role": "user"}, "then": [{"text": "new course"}]}
    replies = [{"text": "one"}, steered, {"text": "two"}, {"text": "three"}]
    assert await texts(model_of(*replies), TASK, RESULT, RESULT) == ["one", "two", "three"]
    course = await texts(model_of(*replies), TASK, user("stop that"), RESULT, RESULT)
    assert course[:3] == ["one", "as you say", "new course"]
    assert "ends here" in course[3]


async def test_an_empty_branch_ends_the_script() -> None:
    course = await texts(model_of({"text": "one", "then": []}, {"text": "two"}), TASK, RESULT)
    assert course[0] == "one"
    assert "ends here" in course[1]


MATCHES = {None: "any", "the culprit": "substring", r"/^fix .*\.py$/": "regex"}


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [("find the culprit!", "substring"), ("fix a.py", "regex"), ("please fix a.py", "any"), ("", "any")],
)
async def test_the_first_user_message_chooses_the_script(prompt: str, answer: str) -> None:
    scripts = [{"match": match, "replies": [{"text": text}]} for match, text in reversed(MATCHES.items())]
    file = ScriptFile.model_validate({"scripts": scripts})
    model = ScriptedModel(file, name="s", sleep=Sleeper())
    messages = [{"role": "system", "content": "fix b.py"}, user(prompt), RESULT, user("find the culprit")]
    assert (await ask(model, *messages)).text == answer


async def test_a_task_without_a_script() -> None:
    completion = await ask(model_of({"text": "x"}, match="another task"))
    assert "No script" in completion.text


async def test_a_fault_comes_after_what_was_streamed() -> None:
    model = model_of(
        {"text": "half an", "error": {"kind": "connection", "message": "gone"}}, {"text": "whole"}
    )
    streamed: list[str] = []
    with pytest.raises(ModelError, match="gone") as caught:
        await model.complete(ChatRequest(messages=[TASK]), lambda piece: streamed.append(piece.text))
    assert caught.value.kind == "connection"
    assert caught.value.usage is not None
    assert caught.value.usage.partial
    assert "".join(streamed) == "half an"
    assert (await ask(model)).text == "whole"


async def test_cancelling_takes_effect_at_once() -> None:
    model = model_of({"text": "never", "delay": 3600}, {"text": "next"}, sleep=asyncio.sleep)
    task = asyncio.create_task(ask(model))
    await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=5)
    assert done
    assert task.cancelled()
    assert (await ask(model)).text == "next"


GOOD = """
scripts:
  - match: /fix/
    replies:
      - when: {role: tool, contains: a, matches: b+}
        text: |
          two
          lines
        reasoning: because
        tool_calls:
          - name: bash
            arguments: {command: "ls", n: 1, deep: [1, {a: null}]}
          - {name: submit, arguments: '{"answer": '}
        delay: 1
        tokens_per_second: 20
        finish_reason: length
        error: {kind: timeout, message: too late}
        then:
          - text: nested
"""


def test_a_script_with_everything_is_read(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(GOOD, encoding="utf-8")
    reply = load_script(file).scripts[0].replies[0]
    assert reply.model_dump(exclude_defaults=True) == yaml.safe_load(GOOD)["scripts"][0]["replies"][0] | {
        "tool_calls": (
            {"name": "bash", "arguments": {"command": "ls", "n": 1, "deep": [1, {"a": None}]}},
            {"name": "submit", "arguments": '{"answer": '},
        ),
        "then": ({"text": "nested"},),
    }


BAD = {
    "empty": ("", "an object was expected here"),
    "a list": ("- a", "an object was expected here"),
    "not YAML": ("scripts: [", "not valid YAML: line "),
    "no scripts": ("{}", "scripts: this key is required"),
    "no script": ("scripts: []", "scripts: "),
    "no replies": ("scripts: [{match: a}]", "scripts[0].replies: this key is required"),
    "a script that is words": ("scripts: [x]", "scripts[0]: an object was expected here"),
    "a key of the file": (
        "scripts: [{replies: [{text: a}]}]\nmodel: x",
        "unknown key 'model'; allowed are scripts",
    ),
    "a key of a script": (
        "scripts: [{when: a, replies: [{text: a}]}]",
        "scripts[0]: unknown key 'when'; allowed are match, replies",
    ),
    "a key of a reply": (
        "scripts: [{replies: [{text: a}, {txt: b}]}]",
        "scripts[0].replies[1]: unknown key 'txt'; allowed are text, reasoning, tool_calls, when, delay",
    ),
    "a key of a nested reply": (
        "scripts: [{replies: [{text: a, then: [{txt: b}]}]}]",
        "scripts[0].replies[0].then[0]: unknown key 'txt'",
    ),
    "a key of a call": (
        "scripts: [{replies: [{tool_calls: [{name: f, args: {}}]}]}]",
        "scripts[0].replies[0].tool_calls[0]: unknown key 'args'; allowed are name, arguments",
    ),
    "a key of a condition": (
        "scripts: [{replies: [{text: a, when: {roles: user}}]}]",
        "scripts[0].replies[0].when: unknown key 'roles'; allowed are role, contains, matches",
    ),
    "a role": (
        "scripts: [{replies: [{text: a, when: {role: bot}}]}]",
        "scripts[0].replies[0].when.role: Input should be 'system', 'user', 'assistant' or 'tool'",
    ),
    "an empty condition": (
        "scripts: [{replies: [{text: a, when: {}}]}]",
        "when: a condition has role, contains",
    ),
    "a regex": (
        "scripts: [{replies: [{text: a, when: {matches: '('}}]}]",
        "when.matches: not a regular expression: missing )",
    ),
    "a regex as match": (
        "scripts: [{match: '/(/', replies: [{text: a}]}]",
        "scripts[0].match: not a regular",
    ),
    "an empty reply": (
        "scripts: [{replies: [{delay: 1}]}]",
        "replies[0]: a reply has text, reasoning, tool_calls",
    ),
    "a number as text": (
        "scripts: [{replies: [{text: 42}]}]",
        "scripts[0].replies[0].text: Input should be a valid string",
    ),
    "no speed": (
        "scripts: [{replies: [{text: a, tokens_per_second: 0}]}]",
        "tokens_per_second: Input should be greater",
    ),
    "a delay that never ends": (
        "scripts: [{replies: [{text: a, delay: .inf}]}]",
        "delay: Input should be a finite",
    ),
    "a list as arguments": (
        "scripts: [{replies: [{tool_calls: [{name: f, arguments: [1]}]}]}]",
        "scripts[0].replies[0].tool_calls[0].arguments: Input should be a valid dictionary",
    ),
    "a kind of fault": (
        "scripts: [{replies: [{error: {kind: fire}}]}]",
        "error.kind: Input should be 'authentication'",
    ),
}


@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=BAD.keys())
def test_bad_scripts(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Exception) as caught:
        load_script(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"scripts: \x00"])
def test_bytes_that_are_no_yaml(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "script.yaml"
    file.write_bytes(content)
    with pytest.raises(Exception, match=r"script\.yaml"):
        load_script(file)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for file in (tmp_path, tmp_path / "none.yaml"):
        with pytest.raises(ScriptError, match=rf"cannot read the script .*{file.name}.*YAML file"):
            load_script(file)


def test_the_examples_of_the_documentation_are_valid(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "scripted-models.md").read_text(encoding="utf-8")
    examples = [block.split("```")[0] for block in page.split("```yaml\n")[1:]]
    assert len(examples) >= 3
    for example in examples:
        file = tmp_path / "example.yaml"
        file.write_text(example, encoding="utf-8")
        assert json.dumps(load_script(file).model_dump())
