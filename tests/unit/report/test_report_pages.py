"""Reports as pages: nothing from outside is a tag, nothing is fetched, what is shown was measured."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agentscope_tui.report import html_run
from agentscope_tui.report.html_page import no_links
from agentscope_tui.report.html_pair import pair_page
from agentscope_tui.report.html_run import run_page
from agentscope_tui.report.pair import Pair
from agentscope_tui.report.recordings import Recordings
from agentscope_tui.report.run import Run
from fakes.run_folders import failed, result, run_of, write_recording
from hostile import HOSTILE, raw_characters

VOID = {"meta", "br"}


class Read(HTMLParser):
    """The tags of a page, checked for balance, and the text that it shows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.targets: list[str] = []
        self.shown: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.targets += [value or "" for name, value in attrs if name in ("href", "src")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.shown.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.shown).split())


def page_of(run: Run, sessions: Path, *, every: bool = False) -> str:
    return "".join(run_page(run, Recordings(sessions), no_links, every=every))


def test_a_page_shows_the_figures_and_needs_nothing_else(tmp_path: Path):
    run = run_of(
        tmp_path / "run",
        *(result(row, float(row % 2), n, answer="seven", cost=0.5) for row in range(4) for n in range(2)),
        failed(7, "it broke"),
    )
    write_recording(tmp_path / "sessions", "s0-0", "What is seven?")
    page = page_of(run, tmp_path / "sessions")
    read = Read(page)
    assert read.targets == []
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|url\(|@import", page)
    for words in ("mean reward 0.5", "pass@1 0.500", "8 done · 1 failed", "it broke", "$4.00"):
        assert words in read.text
    assert "What is seven? seven agentscope open s0-0" in read.text


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_only_text(text: str, tmp_path: Path):
    attack = f"{text}</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    clean = attack.encode(errors="replace").decode()
    first, second = (
        run_of(
            tmp_path / name,
            result(0, reward, answer=clean, metrics={clean: 0.5}),
            result(1, 1.0, metrics={clean: 0.7}),
            failed(2, clean),
            **dict.fromkeys(("name", "dataset", "model", "runner", "dataset_identity"), clean),
            settings={clean: clean},
        )
        for name, reward in (("one", 0.0), ("two", 1.0))
    )
    folder = write_recording(tmp_path / "sessions", "s0-0")
    (folder / "meta.json").write_text(json.dumps({"task": {"prompt": attack}}))
    recordings = Recordings(tmp_path / "sessions")
    for page in (
        page_of(first, tmp_path / "sessions"),
        "".join(pair_page(Pair(first, second), recordings, no_links, every=False)),
    ):
        read = Read(page)
        assert page.count("<script>") == 1
        assert "img" not in read.tags
        assert read.targets == []
        assert raw_characters(re.sub(r"[\n\t]", "", page)) == []


def test_links_are_those_of_exported_recordings(tmp_path: Path):
    run = run_of(tmp_path / "run", result(0, 1.0), result(1, 0.0))
    page = "".join(
        run_page(run, Recordings(tmp_path), lambda _, one: f"files/{one.session}.html", every=False)
    )
    assert Read(page).targets == ["files/s1-0.html", "files/s0-0.html"]


def test_a_page_has_the_worst_rows_or_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(html_run, "MOST_ROWS", 3)
    run = run_of(tmp_path / "run", *(result(row, row / 10) for row in range(6)))
    page = page_of(run, tmp_path)
    assert "Rows, the worst 3 of 6" in page
    assert page.count('<div class="rolls">') == 3
    assert page_of(run, tmp_path, every=True).count('<div class="rolls">') == 6


def test_a_page_of_thousands_of_rows_draws_them_in_groups(tmp_path: Path):
    run = run_of(tmp_path / "run", *(result(row, row % 7 / 7) for row in range(3_000)))
    page = page_of(run, tmp_path)
    assert page.count('<circle class="dot" cx') < 300
    assert "rows 0 to 19: mean" in page


def test_a_comparison_marks_the_rows_that_flipped(tmp_path: Path):
    left = run_of(tmp_path / "left", result(0, 1.0), result(1, 0.0), result(2, 1.0))
    right = run_of(tmp_path / "right", result(0, 0.0), result(1, 1.0), result(2, 1.0), dataset_identity="x")
    page = "".join(pair_page(Pair(left, right), Recordings(tmp_path), no_links, every=False))
    text = Read(page).text
    assert "passes no more" in text
    assert "passes now" in text
    assert "the datasets differ" in text
    assert page.count('<div class="rolls">') == 4


@pytest.mark.parametrize("rewards", [[], [0.5], [0.5, 0.5]])
def test_runs_with_little_in_them_have_pages_too(rewards: list[float], tmp_path: Path):
    some = [result(row, reward) for row, reward in enumerate(rewards)] or [failed(0, "boom")]
    run = run_of(tmp_path / "run", *some)
    Read(page_of(run, tmp_path))
    Read("".join(pair_page(Pair(run, run), Recordings(tmp_path), no_links, every=False)))
