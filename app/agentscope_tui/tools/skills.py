"""Skills: instructions in files of which the model sees only name and description until it reads one.

A skill is `DIR/NAME/SKILL.md` or `DIR/NAME.md`: lines `name:` and `description:` between two lines `---`,
then the text. The index stands in the system prompt; the tool `read_skill` gives a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentscope_tui.errors import UsageError
from agentscope_tui.tools.spec import OnOutput, ToolOutcome, Toolset

READ_SKILL = "read_skill"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LARGEST = 1 << 20

_SPEC = {
    "name": READ_SKILL,
    "description": "Return the text of a skill that the system prompt lists.",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "The skill's name."}},
        "required": ["name"],
    },
}


class SkillError(UsageError):
    """A skill that cannot be used: names the file and what is wrong."""


@dataclass(frozen=True)
class Skill:
    """One skill; `description` is one line."""

    name: str
    description: str
    text: str


def load_skills(folder: Path) -> list[Skill]:
    """The skills of a folder, by name.

    Raises:
        SkillError: there is no such folder, it has no skill, or a file in it is none.
    """
    if not folder.is_dir():
        raise SkillError(f"skills: there is no folder {folder}")
    files = sorted([*folder.glob("*.md"), *folder.glob("*/SKILL.md")])
    skills: dict[str, Skill] = {}
    for file in files:
        skill = _read(file)
        if skill.name in skills:
            raise SkillError(f"{file}: another file has the skill {skill.name!r} too")
        skills[skill.name] = skill
    if not skills:
        raise SkillError(f"skills: {folder} has no NAME.md and no NAME/SKILL.md")
    return sorted(skills.values(), key=lambda skill: skill.name)


def skill_index(skills: Sequence[Skill]) -> str:
    """What the system prompt says about the skills."""
    lines = [f"- {skill.name}: {skill.description}" for skill in skills]
    return "\n".join([f"Skills (call {READ_SKILL} with a name before you use one):", *lines])


class SkilledTools:
    """A toolset with `read_skill` added to it."""

    def __init__(self, tools: Toolset, skills: Sequence[Skill]) -> None:
        self._tools = tools
        self._skills: Mapping[str, Skill] = {skill.name: skill for skill in skills}

    @property
    def specs(self) -> Sequence[dict[str, Any]]:
        return [*self._tools.specs, _SPEC]

    @property
    def confinement(self) -> str:
        return self._tools.confinement

    async def call(self, name: str, arguments: dict[str, Any], on_output: OnOutput) -> ToolOutcome:
        if name != READ_SKILL:
            return await self._tools.call(name, arguments, on_output)
        asked = arguments.get("name")
        skill = self._skills.get(asked) if isinstance(asked, str) else None
        if skill is None:
            known = ", ".join(self._skills)
            return ToolOutcome(content=f"no skill named {asked!r} (there are: {known})", is_error=True)
        return ToolOutcome(content=skill.text)

    async def aclose(self) -> None:
        await self._tools.aclose()


def _read(file: Path) -> Skill:
    try:
        with file.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise SkillError(f"{file} is larger than 1 MiB, too large for a skill")
        head, text = _parts(content.decode().replace("\r\n", "\n"))
    except OSError as error:
        raise SkillError(f"cannot read the skill {file}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise SkillError(f"{file} is no UTF-8 text") from None
    if head is None:
        raise SkillError(f"{file}: a skill begins with `name:` and `description:` between two lines `---`")
    name, description = head.get("name", ""), head.get("description", "")
    if not _NAME.fullmatch(name):
        raise SkillError(f"{file}: `name` must be lower-case words joined by `-`, not {name!r}")
    if not description:
        raise SkillError(f"{file}: `description` must be one line of text")
    return Skill(name, description, text.strip("\n"))


def _parts(content: str) -> tuple[dict[str, str] | None, str]:
    """The fields of the head, None where there is none, and the text below it."""
    lines = content.split("\n")
    if lines[0].strip() != "---" or "---" not in lines[1:]:
        return None, content
    end = lines.index("---", 1)
    pairs = (line.partition(":") for line in lines[1:end] if not line.startswith((" ", "\t")))
    head = {name.strip(): value.strip().strip("\"'") for name, colon, value in pairs if colon}
    return head, "\n".join(lines[end + 1 :])
