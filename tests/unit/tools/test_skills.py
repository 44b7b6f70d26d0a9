"""Skills: what a file must look like, the index in the prompt, and `read_skill`."""

from pathlib import Path
from typing import Any

import pytest

from agentscope_tui.tools.skills import SkilledTools, SkillError, load_skills, skill_index
from agentscope_tui.tools.spec import validate_tools
from fakes.engine import FakeTools, returns

GOOD = "---\nname: csv-files\ndescription: How to read: CSV\n---\n\n# CSV\n---\nText.\n"


async def no_output(stream: str, data: bytes) -> None:
    return None


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def test_both_layouts_are_found_and_sorted_by_name(tmp_path: Path) -> None:
    other = "---\nname: \"a1\"\ndescription: 'First'\nmore: ignored\n---\nA"
    folder = write(tmp_path, csv_md=GOOD, a__SKILL_md=other)
    skills = load_skills(folder)
    assert [(skill.name, skill.description, skill.text) for skill in skills] == [
        ("a1", "First", "A"),
        ("csv-files", "How to read: CSV", "# CSV\n---\nText."),
    ]
    assert skill_index(skills).splitlines()[1:] == ["- a1: First", "- csv-files: How to read: CSV"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "begins with"),
        ("# no head", "begins with"),
        ("---\nname: x\ndescription: y\n", "begins with"),
        ("---\ndescription: y\n---\n", "lower-case words"),
        ("---\nname: Not_Kebab\ndescription: y\n---\n", "lower-case words"),
        ("---\nname: x\ndescription:\n---\n", "one line"),
    ],
)
def test_what_is_no_skill(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(SkillError, match=reason) as raised:
        load_skills(write(tmp_path, x_md=text))
    assert "x.md" in str(raised.value)


def test_folders_without_skills_and_names_twice(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="there is no folder"):
        load_skills(tmp_path / "none")
    with pytest.raises(SkillError, match="has no NAME"):
        load_skills(tmp_path)
    with pytest.raises(SkillError, match="another file"):
        load_skills(write(tmp_path, a_md=GOOD, b_md=GOOD))
    (tmp_path / "a.md").write_bytes(b"\xff\xfe")
    with pytest.raises(SkillError, match="UTF-8"):
        load_skills(tmp_path)


async def test_read_skill_is_offered_and_answered_by_the_host(tmp_path: Path) -> None:
    inner = FakeTools(look=returns("seen"))
    tools = SkilledTools(inner, load_skills(write(tmp_path, csv_md=GOOD)))
    validate_tools(tools.specs)
    assert [spec["name"] for spec in tools.specs] == ["look", "submit", "read_skill"]
    assert (await tools.call("read_skill", {"name": "csv-files"}, no_output)).content.startswith("# CSV")
    assert (await tools.call("look", {}, no_output)).content == "seen"
    for arguments in ({"name": "x"}, {}, {"name": 5}):
        outcome = await tools.call("read_skill", dict[str, Any](arguments), no_output)
        assert outcome.is_error
        assert outcome.content.startswith("no skill named")
    assert inner.called == [("look", {})]
    await tools.aclose()
    assert inner.closed
