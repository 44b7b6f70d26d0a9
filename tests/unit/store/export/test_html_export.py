"""HTML: one page that shows everything, trusts nothing and opens again as the same session."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import agentscope_tui.events as ev
from agentscope_tui.errors import UserError
from agentscope_tui.models.chat import FunctionCall, ToolCallPart
from agentscope_tui.store.export.embedded import CLOSING, KEPT, OPENING
from agentscope_tui.store.export.formats import FORMATS, Choices
from agentscope_tui.store.export.html_text import markdown, terminal
from agentscope_tui.store.export.outputs import ROOM
from agentscope_tui.store.export.source import recorded
from agentscope_tui.store.imports import open_trajectories
from fakes.past_sessions import eventful, exported, past
from fakes.recordings import recording
from hostile import HOSTILE, raw_characters

START = ev.SessionStarted(version="1", system="Be brief.")
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "div", "nav", "details", "summary", "ol", "li", "a"),
    *("span", "main", "header", "h1", "ul", "button", "dl", "dt", "dd", "svg", "rect", "p", "i", "h2", "h3"),
    *("section", "time", "article", "h4", "pre", "footer", "code", "script", "em", "strong", "s", "hr", "br"),
    *("blockquote", "table", "thead", "tbody", "tr", "th", "td", "h5", "h6"),
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "http-equiv", "class", "id", "href", "open", "style", "target"),
    *("rel", "aria-label", "viewbox", "preserveaspectratio", "role", "x", "y", "width", "height", "rx"),
    *("type", "data-format", "start"),
}
STYLES = re.compile(
    r"(color|background):#[0-9a-f]{6}(;background:#[0-9a-f]{6})?|text-align:(left|right|center)"
)


class Page(HTMLParser):
    """What a browser would make of a page: its elements, and its text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.scripts = 0
        self.text = ""
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.scripts += tag == "script"
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.text += data


def assert_harmless(page: Page) -> None:
    assert page.tags <= TAGS
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    assert page.scripts == 2
    for name, value in page.attributes:
        if name == "href":
            assert value.startswith(("#", "http:", "https:", "mailto:")) or ":" not in value, value
        if name == "style":
            assert STYLES.fullmatch(value), value
    assert raw_characters(page.text.replace("\n", "").replace("\t", "")) == []


def everywhere(text: str) -> list[ev.SessionEvent]:
    """A session in which everybody says this."""
    part = ToolCallPart(id="c", function=FunctionCall(name=text, arguments=text))
    return past(
        START.model_copy(
            update={"system": text, "model": text, "tools": [{"name": text, "description": text}]}
        ),
        ev.UserMessageSent(msg_id="m", text=text, turn=1),
        ev.LlmRequestSent(call=1, turn=1, req_id="r"),
        ev.AssistantMessage(call=1, text=text, reasoning=text, tool_calls=[part]),
        ev.ToolCallStarted(call_id="c", call=1, req_id="q", name=text, arguments={text: text}),
        ev.ToolOutput(call_id="c", stream="stdout", text=text),
        ev.ToolOutput(call_id="c", stream="stderr", text=text),
        ev.ToolResult(call_id="c", call=1, name=text, status="failed", content=text, reason=text),
        ev.ErrorOccurred(source="tool", message=text, detail=text),
        ev.Graded(grader=text, turn=1, reward=0.0, reason=text),
        ev.ExtraKept(about=text, data={text: text}),
        ev.StateChanged(status="idle", turn=1, outcome="failed", reason=text),
    )


MORE_HOSTILE = {
    "script": "<script>alert(1)</script></script><svg onload=alert(1)>",
    "the end of the data": "</script><script>alert(1)//",
    "an attribute": '" onmouseover="alert(1)" \' onclick=\'alert(1)',
    "style": "</style><style>*{display:none}</style>",
    "links": "[a](javascript:alert(1)) [b](JaVaScRiPt&colon;alert(1)) [c](data:text/html,x) <javascript:x>",
    "pictures": "![x](http://there/pixel.png) ![y][z]\n\n[z]: http://there/other.png",
    "an info string": '```"><script>alert(1)</script>\nx\n```',
    "a table": "| a |\n|:-:|\n| <b>b</b> |",
    "comment": "<!-- --><!--> x --!> <![CDATA[ x ]]> <?php ?>",
    "entities": "&lt;script&gt;&#60;script&#62; &#8238;",
}


@pytest.mark.parametrize("name", [*HOSTILE, *MORE_HOSTILE])
def test_no_text_becomes_part_of_the_page(name: str) -> None:
    text = {**HOSTILE, **MORE_HOSTILE}[name]
    assert_harmless(Page(exported("html", everywhere(text))))


async def test_everything_is_told() -> None:
    page = Page(exported("html", await eventful()))
    assert_harmless(page)
    for said in ("I look at both.", "and be quick", "the server is busy", "too dangerous", "total 0"):
        assert said in page.text
    for title in ("Assistant · edited", "Steer · in call #4", "Reward 0.5 · exact", "Interrupted"):
        assert title in page.text
    links = {value[1:] for name, value in page.attributes if name == "href" and value.startswith("#")}
    assert links <= {value for name, value in page.attributes if name == "id"}
    assert {f"call-{number}" for number in range(1, 7)} <= links


def test_nothing_is_loaded_and_no_script_but_ours_runs() -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', exported("html", past(START)))
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}';", policy)


async def test_the_page_opens_as_the_same_session(tmp_path: Path) -> None:
    events = await eventful()
    path = tmp_path / "run.txt"
    path.write_text(exported("html", events))
    opened = open_trajectories(path)
    summary = opened.summary(0)
    assert (len(opened), summary.prompt, summary.reward) == (1, "go", None)
    assert opened.session(0).events == events


async def test_a_page_of_a_session_that_still_ran_opens_with_its_end_closed(tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    path.write_text(exported("html", (await eventful())[:-1]))
    assert isinstance(open_trajectories(path).session(0).events[-1], ev.SessionEnded)


@pytest.mark.parametrize("damage", ["cut off", "without data", "other data", "no session"])
def test_a_damaged_page_says_so(tmp_path: Path, damage: str) -> None:
    page = exported("html", past(START))
    opening, closing = OPENING.decode(), CLOSING.decode()
    head, data = page.split(opening)
    path = tmp_path / "run.html"
    match damage:
        case "cut off":
            page = head + opening + data[:100] + closing
        case "without data":
            page = head
        case "other data":
            page = f"{head}{opening}AAAA{closing}"
        case _:
            page = exported("html", past(ev.UserMessageSent(msg_id="m", text="x", turn=1)))
    path.write_text(page)
    with pytest.raises(UserError, match="cannot be opened"):
        open_trajectories(path)


def test_output_in_files_is_in_the_page(tmp_path: Path) -> None:
    first, rest = "begin\n", "\x1b[31mred\x1b[0m\n" + "x" * (KEPT + 10)
    folder = recording(
        tmp_path / "s",
        past(
            START,
            ev.ToolCallStarted(call_id="c", call=1, req_id="r", name="bash"),
            ev.ToolOutput(call_id="c", stream="stdout", text=first),
            ev.ToolOutput(call_id="c", stream="stdout", file="0001.out", offset=6, length=len(rest)),
            ev.ToolResult(call_id="c", call=1, name="bash", status="done", content=""),
        ),
        outputs={"0001.out": first + rest},
    )
    path = tmp_path / "run.html"
    with path.open("w") as out:
        FORMATS["html"].writer(recorded(folder), out, Choices())
    assert '<span class="f1">red</span>' in path.read_text()
    again = [one for one in open_trajectories(path).session(0).events if isinstance(one, ev.ToolOutput)]
    assert [one.file for one in again] == [None, None]
    assert again[1].text == f"{rest[:KEPT]}\n[{len(rest) - KEPT:,} bytes more are not in this file]\n"


def test_of_long_output_the_beginning_and_the_end_are_shown() -> None:
    pieces = [f"line {number}\n" * 1000 for number in range(100)]
    outputs = [ev.ToolOutput(call_id="c", stream="stdout", text=piece) for piece in pieces]
    begun = ev.ToolCallStarted(call_id="c", call=1, req_id="r", name="bash")
    ended = ev.ToolResult(call_id="c", call=1, name="bash", status="done", content="")
    text = Page(exported("html", past(START, begun, *outputs, ended))).text
    assert "line 0\n" in text
    assert "line 99\n" in text
    assert "line 50\n" not in text
    assert len(text) < 3 * ROOM
    assert re.search(r"[\d,]+ bytes are left out here", text)


@pytest.mark.parametrize(
    ("printed", "html"),
    [
        ("a < b", "a &lt; b"),
        ("\x1b[1;31mbad\x1b[0m ok", '<span class="bold f1">bad</span> ok'),
        ("\x1b[48;5;208mx", '<span style="background:#ff8700">x</span>'),
        ("\x1b[38;2;1;2;3mx\x1b[39my", '<span style="color:#010203">x</span>y'),
        ("\x1b[31;41mhidden", "<span>hidden</span>"),
        ("10%\r50%\r100%\r\ndone", "100%\ndone"),
        ("\x1b[2Jx", "␛[2Jx"),
    ],
)
def test_colours_of_a_terminal(printed: str, html: str) -> None:
    assert terminal(printed) == html


def test_markdown_is_rendered_and_code_has_colours() -> None:
    html = markdown("# Title\n\n- **one**\n\n```python\nreturn 1\n```\n\n[there](https://x.org)")
    assert "<h1>Title</h1>" in html
    assert "<strong>one</strong>" in html
    assert '<span class="c-k">return</span>' in html
    assert '<a href="https://x.org" target="_blank" rel="noopener noreferrer nofollow">there</a>' in html
