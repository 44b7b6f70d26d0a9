"""Two sessions side by side: aligned by call, with what differs, and the numbers of both."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_tui.session.comparing import CallPair, compare, request_differences
from fakes.small_sessions import Did, past_session, state_of

LOOK = Did("I look", "bash", '{"command": "ls"}', "notes.txt")
READ = Did("I read", "read_file", '{"path": "notes.txt"}', "the sum is 4")
SUM = Did("I add up", "bash", '{"command": "python sum.py"}', "4", exit_code=0)
DONE = Did("The sum is 4.")

did = st.builds(
    Did,
    text=st.sampled_from(["", "a", "b"]),
    tool=st.sampled_from(["", "bash", "read_file"]),
    arguments=st.sampled_from(["{}", '{"x": 1}', "not json"]),
    result=st.sampled_from(["ok", "no"]),
    before=st.sampled_from(["", "", "and now?"]),
)
sessions = st.lists(did, max_size=8)


def pairs_of(left: list[Did], right: list[Did]) -> list[CallPair]:
    return [*compare(state_of(past_session(*left)), state_of(past_session(*right, session_id="two"))).pairs]


def numbers(left: list[Did], right: list[Did]) -> list[tuple[int | None, int | None, str]]:
    """The calls that stand side by side, and how they differ."""
    return [
        (pair.left and pair.left.number, pair.right and pair.right.number, pair.difference)
        for pair in pairs_of(left, right)
    ]


@given(sessions, sessions)
def test_every_call_of_both_is_there_once_in_its_order(left: list[Did], right: list[Did]):
    pairs = pairs_of(left, right)
    assert [pair.left.number for pair in pairs if pair.left] == [*range(len(left) + 1)]
    assert [pair.right.number for pair in pairs if pair.right] == [*range(len(right) + 1)]
    assert all(pair.left or pair.right for pair in pairs)
    for pair in pairs:
        if pair.left and pair.right:
            assert [part.left for part in pair.parts if part.left] == [*pair.left.parts]
            assert [part.right for part in pair.parts if part.right] == [*pair.right.parts]


@given(sessions)
def test_a_session_does_not_differ_from_itself_whatever_its_ids_and_times(did: list[Did]):
    comparison = compare(state_of(past_session(*did)), state_of(past_session(*did, session_id="other")))
    assert comparison.same
    assert comparison.first_divergence is None
    assert all(part.difference == "same" for pair in comparison.pairs for part in pair.parts)


@given(sessions, sessions)
def test_swapped_sides_mirror_the_comparison(left: list[Did], right: list[Did]):
    mirrored = {"left": "right", "right": "left", "same": "same", "changed": "changed"}
    there, back = numbers(left, right), numbers(right, left)
    assert {(two, one, mirrored[how]) for one, two, how in there} == set(back)


def test_after_an_insertion_the_calls_align_again():
    assert numbers([LOOK, READ, DONE], [LOOK, SUM, READ, DONE]) == [
        (0, 0, "same"),
        (1, 1, "same"),
        (None, 2, "right"),
        (2, 3, "same"),
        (3, 4, "same"),
    ]


def test_a_call_with_another_result_stays_beside_its_twin_where_the_same_was_wanted():
    failed = replace(SUM, result="Traceback", status="failed", exit_code=1)
    assert numbers([LOOK, READ, SUM, DONE], [READ, failed, DONE]) == [
        (0, 0, "same"),
        (1, None, "left"),
        # The user message belongs to the call that follows it.
        (2, 1, "changed"),
        (3, 2, "changed"),
        (4, 3, "same"),
    ]


def test_the_parts_of_a_call_tell_what_differs():
    failed = replace(SUM, result="Traceback", status="failed", exit_code=1)
    pair = pairs_of([LOOK, SUM], [LOOK, failed])[2]
    assert [(part.left and part.left.kind, part.difference) for part in pair.parts] == [
        ("assistant", "same"),
        ("tool", "changed"),
    ]
    tool = pair.parts[1]
    assert tool.left
    assert tool.right
    assert (tool.left.result, tool.left.state, tool.left.exit_code) == ("4", "done", 0)
    assert (tool.right.result, tool.right.state, tool.right.exit_code) == ("Traceback", "failed", 1)


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"did": [LOOK, SUM]}, 2),
        ({"did": [LOOK, READ, replace(DONE, before="go on")]}, 3),
        ({"prompt": "another task"}, 1),
        ({"system": "be brief"}, 0),
        ({"tools": [{"name": "bash"}]}, 0),
        ({"reward": 0.0}, 3),
        ({"model": "scripted:y"}, None),
        ({"tokens": 99}, None),
    ],
    ids=[
        "a call",
        "a message",
        "the task",
        "the system prompt",
        "the tools",
        "the reward",
        "model",
        "tokens",
    ],
)
def test_the_first_divergence_is_found(changed: dict[str, object], place: int | None):
    given: dict[str, object] = {"reward": 1.0, **changed}
    did = given.pop("did", [LOOK, READ, DONE])
    left = past_session(LOOK, READ, DONE, reward=1.0)
    right = past_session(*did, session_id="two", **given)  # type: ignore[misc, arg-type]
    assert compare(state_of(left), state_of(right)).first_divergence == place


def test_where_the_agents_part_is_told_apart_from_other_results():
    left = state_of(past_session(LOOK, READ, SUM, DONE))
    timed = replace(READ, result="the sum is 4, in 0.03 s")
    right = state_of(past_session(LOOK, timed, SUM, replace(DONE, text="5"), session_id="two"))
    comparison = compare(left, right)
    assert (comparison.first_divergence, comparison.parting) == (2, 4)
    assert compare(left, left).parting is None


def test_the_folders_of_the_sessions_are_no_difference():
    def told(folder: str) -> Did:
        return replace(READ, result=f'File "{folder}/files/sum.py"')

    parent = state_of(past_session(told("/s/one"), DONE, folder="/s/one"))
    other = state_of(past_session(told("/s/two"), DONE, folder="/s/two", session_id="two"))
    # What a fork replays tells of its parent's folder.
    fork = state_of(past_session(told("/s/one"), DONE, folder="/s/two", session_id="two"))
    assert compare(parent, other).same
    assert compare(parent, fork).same
    elsewhere = state_of(past_session(told("/s/three"), DONE, folder="/s/two", session_id="two"))
    assert not compare(parent, elsewhere).same


def test_the_order_of_argument_names_is_no_difference():
    one = Did(tool="write", arguments='{"path": "a", "text": "b"}')
    other = replace(one, arguments='{"text":"b","path":"a"}')
    assert numbers([one], [other])[1] == (1, 1, "same")


def test_the_calls_before_a_fork_stand_side_by_side_whatever_they_were():
    """Tools in the agent's own process run again, and may give something else."""
    parent = past_session(LOOK, READ, SUM, DONE)
    fork = past_session(
        replace(LOOK, result="other.txt"),
        READ,
        LOOK,
        READ,
        DONE,
        session_id="two",
        parent="one",
        parent_call=3,
        change="another result",
    )
    comparison = compare(state_of(parent), state_of(fork))
    assert comparison.relation == "the right one goes on from call #3: another result"
    assert [(pair.left and pair.left.number, pair.difference) for pair in comparison.pairs][:3] == [
        (0, "same"),
        (1, "changed"),
        (2, "same"),
    ]
    back = compare(state_of(fork), state_of(parent))
    assert back.relation == "the left one goes on from call #3: another result"


def test_the_numbers_of_both_are_told():
    left = past_session(LOOK, DONE, reward=0.0)
    right = past_session(LOOK, READ, DONE, reward=1.0, tokens=100, session_id="two")
    comparison = compare(state_of(left), state_of(right))
    one, other = comparison.left, comparison.right
    assert (one.session_id, one.calls, one.tool_calls, one.input_tokens, one.reward) == ("one", 2, 1, 20, 0.0)
    assert (other.session_id, other.calls, other.tool_calls, other.output_tokens) == ("two", 3, 2, 300)
    assert (one.cost, one.worked, other.worked, other.reward) == (1.0, 2.5, 4.0, 1.0)
    assert one.seconds < other.seconds
    assert one.outcome == other.outcome == "done"


def test_requests_are_compared_without_the_ids_of_calls():
    left = state_of(past_session(LOOK, READ, DONE))
    right = state_of(past_session(LOOK, replace(READ, result="5"), DONE, session_id="two"))
    changes = request_differences(left, 3, right, 3)
    assert [change.message["content"] for change in changes if change.kind != "kept"] == ["5"]
    assert all(change.kind == "kept" for change in request_differences(left, 2, right, 2))
