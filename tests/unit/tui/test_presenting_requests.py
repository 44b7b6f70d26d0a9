"""A request and its changes as blocks, and a tool's schema in words."""

from __future__ import annotations

from agentscope_tui.session.request_diff import request_changes
from agentscope_tui.tools.spec import weaknesses
from agentscope_tui.tui.present.messages import Request, blocks_of
from agentscope_tui.tui.present.schema import schema_lines

SYSTEM = {"role": "system", "content": "be brief"}
ASKED = {"role": "user", "content": "do it"}
REPLY = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}],
}


def test_the_title_counts_messages_tokens_and_changes():
    request = Request(
        2, request_changes([SYSTEM, ASKED], [{"role": "system", "content": "x" * 400}, ASKED, REPLY])
    )
    assert request.title == "call #2 · 3 messages · ~147 tok · +1 ~1"
    assert Request(2, request_changes([ASKED], [ASKED])).title == "call #2 · 1 messages · ~9 tok · no change"


def test_each_block_says_what_became_of_its_message():
    before = [SYSTEM, ASKED, {"role": "user", "content": "hurry"}]
    after = [{"role": "system", "content": "be long"}, ASKED, REPLY]
    blocks = blocks_of(Request(2, request_changes(before, after)), as_json=False, only_changes=False)
    assert [(block.title, block.margin[0], block.tone) for block in blocks] == [
        ("~ [0] system", "altered", "warning"),
        ("[1] user", "~9 tok", "normal"),
        ("− [2] user", "removed", "error"),
        ("+ [2] assistant", "added", "success"),
    ]
    assert blocks[0].body == "- be brief\n+ be long"
    assert blocks[3].body == "→ ls · c1\n{}"


def test_only_changes_leaves_out_what_was_kept():
    request = Request(2, request_changes([SYSTEM], [SYSTEM, ASKED]))
    assert [block.title for block in blocks_of(request, as_json=True, only_changes=True)] == ["+ [1] user"]


def test_a_message_that_changed_in_another_field_than_its_text_says_so():
    before, after = {**ASKED, "name": "a"}, {**ASKED, "name": "b"}
    (block,) = blocks_of(Request(2, request_changes([before], [after])), as_json=False, only_changes=False)
    assert block.body.startswith("(only other fields changed)")
    assert '-   "name": "a"' in block.body
    assert '+   "name": "b"' in block.body


def test_a_schema_in_words_tells_types_bounds_defaults_and_what_is_nested():
    schema = {
        "type": "object",
        "required": ["path"],
        "properties": {
            "path": {"type": "string", "description": "the file"},
            "mode": {"enum": ["r", "w"], "default": "r"},
            "limit": {"type": ["integer", "null"], "minimum": 1},
            "edits": {
                "type": "array",
                "items": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]},
            },
            "where": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Place"}]},
        },
    }
    assert [*schema_lines(schema)] == [
        "path · string · required · the file",
        'mode · "r" | "w" · optional · default "r"',
        "limit · integer or null · optional · ≥ 1",
        "edits · list of object · optional",
        "  old · string · required",
        "where · integer or Place · optional",
    ]


def test_a_schema_that_is_no_schema_has_no_lines():
    assert [*schema_lines({"properties": 3, "required": None})] == []
    assert [*schema_lines({"properties": {"a": True}})] == ["a · any · optional"]
    assert [*schema_lines({"properties": {"a": {}}, "required": True})] == ["a · any · optional"]


def test_what_makes_a_tool_hard_to_use_is_named():
    parameters = {"type": "object", "properties": {"a": {"description": "x"}, "b": {"type": "string"}}}
    assert weaknesses({"name": "t", "parameters": parameters}) == [
        "no description: the model has only the name to go by",
        "a has no type: any value is allowed",
        "b has no description",
    ]
    assert weaknesses({"name": "bad name", "parameters": parameters}) == [
        "a name has 1 to 64 letters, digits, _ or -"
    ]
    good = {"type": "object", "properties": {"a": {"type": "string", "description": "x"}}}
    assert weaknesses({"name": "t", "description": "does", "parameters": good}) == []
