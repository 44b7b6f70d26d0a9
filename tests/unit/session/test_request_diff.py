"""What changed from one request to the next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.models.chat import Message
from agentscope_tui.session.history import digest
from agentscope_tui.session.request_diff import (
    MessageChange,
    SentRequest,
    described,
    deviation,
    request_changes,
)


def said(role: str, content: str) -> Message:
    return {"role": role, "content": content}


SYSTEM, ASKED = said("system", "be brief"), said("user", "do it")
REPLY, RESULT, STEER = said("assistant", "I look"), said("tool", "found"), said("user", "hurry")


def kinds(before: list[Message], after: list[Message]) -> list[tuple[str, str]]:
    return [(change.kind, change.message["content"]) for change in request_changes(before, after)]


def test_a_conversation_that_goes_on_keeps_all_and_adds_at_its_end():
    assert kinds([SYSTEM, ASKED], [SYSTEM, ASKED, REPLY, RESULT]) == [
        ("kept", "be brief"),
        ("kept", "do it"),
        ("added", "I look"),
        ("added", "found"),
    ]


def test_the_first_request_is_all_new():
    assert kinds([], [SYSTEM, ASKED]) == [("added", "be brief"), ("added", "do it")]


def test_a_lost_steer_is_removed_where_it_stood():
    changes = request_changes([SYSTEM, ASKED, STEER, REPLY], [SYSTEM, ASKED, REPLY])
    assert [(change.kind, change.position) for change in changes] == [
        ("kept", 0),
        ("kept", 1),
        ("removed", 2),
        ("kept", 2),
    ]
    assert changes[2].message == STEER


def test_a_history_that_was_cut_shows_what_went():
    assert kinds([SYSTEM, ASKED, REPLY, RESULT], [SYSTEM, RESULT, STEER]) == [
        ("kept", "be brief"),
        ("removed", "do it"),
        ("removed", "I look"),
        ("kept", "found"),
        ("added", "hurry"),
    ]


def test_another_text_in_the_same_role_is_an_altered_message_with_what_it_was():
    changes = request_changes([SYSTEM, ASKED], [said("system", "be long"), ASKED])
    assert changes[0] == MessageChange("altered", 0, said("system", "be long"), before=SYSTEM)
    assert changes[1].kind == "kept"


def test_another_role_in_the_same_place_is_one_removed_and_one_added():
    assert kinds([ASKED, REPLY], [ASKED, RESULT]) == [
        ("kept", "do it"),
        ("removed", "I look"),
        ("added", "found"),
    ]


MESSAGES = st.lists(
    st.builds(said, st.sampled_from(["user", "assistant", "tool"]), st.sampled_from("abcd")), max_size=12
)


@given(before=MESSAGES, after=MESSAGES)
def test_both_requests_can_be_read_off_the_changes(before: list[Message], after: list[Message]):
    changes = request_changes(before, after)
    assert [change.message for change in changes if change.kind != "removed"] == after
    was = [change.before or change.message for change in changes if change.kind != "added"]
    assert was == before
    assert [change.position for change in changes if change.kind != "removed"] == [*range(len(after))]


def sent(*messages: Message, digest: str = "recorded") -> SentRequest:
    return SentRequest(3, digest, lambda call: list(messages))


def test_a_request_with_the_recorded_digest_does_not_differ_whatever_is_masked_in_it():
    asked = said("user", "my key is canary")
    assert deviation(sent(said("user", "my key is ***"), digest=digest([asked])), [asked]) == []


def test_what_says_the_same_to_a_model_is_no_deviation():
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    before = [said("user", "do it"), {"role": "assistant", "content": None, "tool_calls": [call]}]
    after = [
        {"role": "user", "content": [{"type": "text", "text": "do it\n"}]},
        {"role": "assistant", "content": "", "tool_calls": [{**call, "id": "b"}]},
    ]
    assert deviation(sent(*before), after) == []


def test_a_deviation_is_described_line_by_line_around_what_differs():
    before = [SYSTEM, ASKED, said("tool", "x" * 200 + " it is red")]
    after = [said("system", "be long"), ASKED, said("tool", "x" * 200 + " it is blue"), STEER]
    told = described(deviation(sent(*before), after)).splitlines()
    assert told[0] == "~ message 1 (system): be brief → be long"
    assert told[1].startswith("~ message 3 (tool): x")
    assert told[1].endswith("x it is red → xxxxxxxxxxxxx it is blue")
    assert told[2] == "+ message 4 (user): hurry"
    assert described(deviation(sent(*before), after, system=False)).splitlines()[0].startswith("~ message 2")
    many = deviation(sent(), [said("user", str(number)) for number in range(20)])
    assert described(many).splitlines()[-1] == "… 12 more"
