"""HTML: a session as one page that needs no network and no script, and that opens here again.

Nothing from outside is trusted: text is escaped, links run nothing, and the page's own policy lets the
browser load nothing and run no script but the small one of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from agentscope_tui import __version__
from agentscope_tui.figures import seconds
from agentscope_tui.session.views import CallView, Entry
from agentscope_tui.store.export.embedded import MARK, embedded
from agentscope_tui.store.export.formats import Choices
from agentscope_tui.store.export.html_shell import head_of, page_style
from agentscope_tui.store.export.html_text import highlighted, markdown, plain, terminal
from agentscope_tui.store.export.html_timeline import timeline
from agentscope_tui.store.export.outputs import Outputs
from agentscope_tui.store.export.reading import (
    ModelCall,
    Reading,
    Turn,
    arguments_of,
    read,
    result_of,
    text_of_entry,
    title_of,
    tool_facts,
    tool_glyph,
)
from agentscope_tui.store.export.source import Source
from agentscope_widgets.safe_text import safe_line

_TITLE_LIMIT = 140
_BRIEF_LIMIT = 160
_ADDED = re.compile(r"\x1b\[[0-9;:]*m|\n?\[exit -?\d+\]\s*\Z")
"""What the model is told otherwise than it was printed, and what stands in the line above anyway."""


def write(source: Source, out: TextIO, choices: Choices) -> bool:
    """Write the page; always gives True."""
    outputs = Outputs(source)
    reading = read(source, outputs.take)
    for part in _page(reading, outputs):
        out.write(part)
    return True


def _page(reading: Reading, outputs: Outputs) -> Iterator[str]:
    script = _asset("page.js")
    yield head_of(plain(_title(reading)), f'{MARK.decode()} {__version__}">', page_style(), script)
    yield '<div class="frame">\n'
    yield from _contents(reading)
    yield "<main>\n"
    yield _head(reading)
    yield from timeline(reading)
    yield from _body(reading, outputs)
    opens = "<code>agentscope open</code> opens this file."
    yield f"<footer>Written by agentscope {__version__}. {opens}</footer>\n"
    yield f"</main>\n</div>\n<script>{script}</script>\n"
    yield from embedded(reading.source)
    yield "</body>\n</html>\n"


@lru_cache(maxsize=1)
def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _title(reading: Reading) -> str:
    """The first line of what was asked."""
    asked = next((entry.text for entry in reading.state.entries if entry.kind == "user"), "")
    return safe_line(asked.strip().partition("\n")[0], _TITLE_LIMIT) or reading.source.name


def _head(reading: Reading) -> str:
    state = reading.state
    facts = dict(reading.facts)
    chips = [(facts["outcome"].partition(":")[0], state.outcome == "completed")] if state.outcome else []
    if not chips and state.status == "failed":
        chips = [("failed", False)]
    chips += [(f"reward {state.reward:g}", state.reward > 0)] if state.reward is not None else []
    told = [f"<li class='{'good' if good else 'bad'}'>{plain(text)}</li>" for text, good in chips]
    calm = [_counted(len(reading.calls), "call"), _counted(len(state.calls), "tool call")]
    calm += [f"{facts['tokens']} tok"]
    calm += [facts[name] for name in ("cost", "took", "model") if name in facts]
    told += [f"<li>{plain(safe_line(text, 80))}</li>" for text in calm]
    rows = "".join(f"<dt>{plain(name)}</dt><dd>{plain(value)}</dd>" for name, value in reading.facts)
    asked = reading.system
    system = _fold("System prompt", f'<div class="text">{plain(asked)}</div>') if asked else ""
    tools = "".join(_tool_declared(tool) for tool in reading.started.tools)
    count = len(reading.started.tools)
    declared = _fold(_counted(count, "tool"), f"<dl>{tools}</dl>") if count else ""
    return f"""<header>
<div class="id">{plain(reading.source.name)}</div>
<h1>{plain(_title(reading))}</h1>
<ul class="chips">{"".join(told)}</ul>
<div class="tools"><button id="unfold">Unfold all</button><button id="fold">Fold all</button>\
<button id="theme">Light / dark</button></div>
{_fold("About this session", f"<dl>{rows}</dl>")}{system}{declared}
</header>
"""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _tool_declared(tool: dict[str, object]) -> str:
    function = tool.get("function")
    declared = function if isinstance(function, dict) else tool
    name, about = str(declared.get("name")), str(declared.get("description") or "")
    return f"<dt>{plain(name)}</dt><dd>{plain(about)}</dd>"


def _fold(title: str, inner: str, kind: str = "", *, is_open: bool = False) -> str:
    return (
        f'<details class="fold {kind}"{" open" if is_open else ""}><summary>{plain(title)}</summary>'
        f"{inner}</details>\n"
    )


def _contents(reading: Reading) -> Iterator[str]:
    yield '<nav aria-label="Calls"><details open><summary>Contents</summary><ol>\n'
    tools: dict[int, list[CallView]] = {}
    for view in reading.state.calls:
        tools.setdefault(view.call, []).append(view)
    for part in reading.told():
        match part:
            case Turn():
                yield f'<li class="turn"><a href="#turn-{part.number}">Turn {part.number}</a></li>\n'
            case ModelCall():
                own = tools.get(part.number, [])
                what = ", ".join(f"{tool_glyph(one)} {one.name}" for one in own) or "answer"
                took = "" if part.duration is None else seconds(part.duration)
                yield (
                    f'<li><a href="#call-{part.number}"><span class="number">#{part.number}</span>'
                    f'<span class="what">{plain(safe_line(what, 80))}</span>'
                    f'<span class="took">{took}</span></a></li>\n'
                )
            case Entry():
                pass
    yield "</ol></details></nav>\n"


def _body(reading: Reading, outputs: Outputs) -> Iterator[str]:
    inside = False
    for part in reading.told():
        if inside and (not isinstance(part, Entry) or not part.call):
            yield "</section>\n"
            inside = False
        match part:
            case Turn():
                yield f'<h2 id="turn-{part.number}">Turn {part.number}</h2>\n'
            case ModelCall():
                facts = "".join(f"<span>{plain(fact)}</span>" for fact in part.facts)
                yield (
                    f'<section class="call" id="call-{part.number}"><h3><a href="#call-{part.number}">'
                    f"Call #{part.number}</a>{facts}<time>{part.at:%H:%M:%S}</time></h3>\n"
                )
                inside = True
            case Entry():
                yield _entry(reading, outputs, part)
    if inside:
        yield "</section>\n"


def _entry(reading: Reading, outputs: Outputs, entry: Entry) -> str:
    text = text_of_entry(entry)
    match entry.kind:
        case "tool":
            return _tool(reading.call_of(entry), outputs)
        case "reasoning":
            return _fold("Reasoning", f'<div class="md">{markdown(text)}</div>', "reasoning")
        case "extra":
            return _fold(entry.status, f'<pre class="out">{highlighted(text, "json") or plain(text)}</pre>')
        case "assistant":
            mark = " partial" if entry.partial else ""
            title = title_of(entry)
            head = "" if title == "Assistant" else f"<h4>{plain(title)}</h4>"
            inner = f'{head}<div class="md">{markdown(text)}</div>'
            return f'<article class="assistant{mark}">{inner}</article>\n'
        case _:
            good = " good" if entry.kind == "reward" and (entry.reward or 0) > 0 else ""
            failed = " failed" if entry.kind == "ended" and entry.status != "ended" else ""
            inner = f'<div class="text">{plain(text)}</div>' if text else ""
            title = f"<h4>{plain(title_of(entry))}</h4>"
            return f'<article class="{entry.kind}{good}{failed}">{title}{inner}</article>\n'


def _tool(call: CallView, outputs: Outputs) -> str:
    facts = tool_facts(call)
    bad = call.state in ("failed", "interrupted", "refused")
    word = f'<span class="failed-word">{plain(facts[0])}</span>' if bad else plain(facts[0])
    rest = "".join(f" · {plain(fact)}" for fact in facts[1:])
    parts = [
        f'<details class="call-of {call.state}"{" open" if bad else ""}><summary>'
        f'<span class="glyph">{tool_glyph(call)}</span>'
        f'<span class="name">{plain(safe_line(call.name, 60))}</span>'
        f'<span class="brief">{plain(_brief(call))}</span><span class="facts">{word}{rest}</span></summary>'
    ]
    for name, value in arguments_of(call):
        code = (highlighted(value, "json") if not name else None) or plain(value)
        parts.append(f'<div class="label">{plain(name or "arguments")}</div><pre>{code}</pre>')
    parts += _result(call, outputs)
    return "".join(parts) + "</details>\n"


def _result(call: CallView, outputs: Outputs) -> Iterator[str]:
    """What it printed, and what the model was told of it where that is something else."""
    printed = outputs.shown(call.call_id)
    told = result_of(call)
    if printed:
        text = "".join(_printed(stream, piece) for stream, piece in printed)
        yield f'<div class="label">output</div><pre class="out">{text}</pre>'
    if told and not (printed and _same(told, "".join(piece for _, piece in printed))):
        label = "result, as the model got it" if printed else "result"
        yield f'<div class="label">{label}</div><pre class="out">{plain(told)}</pre>'


def _printed(stream: str | None, text: str) -> str:
    shown = terminal(text)
    return f'<span class="err">{shown}</span>' if stream == "stderr" else shown


def _same(told: str, printed: str) -> bool:
    return _ADDED.sub("", told).strip() == _ADDED.sub("", printed.replace("\r\n", "\n")).strip()


def _brief(call: CallView) -> str:
    """The arguments on one line: the value alone when there is only one."""
    try:
        arguments = json.loads(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return safe_line(call.arguments, _BRIEF_LIMIT)
    values = [value if isinstance(value, str) else json.dumps(value) for value in arguments.values()]
    if len(values) == 1:
        return safe_line(values[0], _BRIEF_LIMIT)
    return safe_line(" ".join(f"{name}={v}" for name, v in zip(arguments, values, strict=True)), _BRIEF_LIMIT)
