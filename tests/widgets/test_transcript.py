"""The transcript: only what is in sight is rendered, it follows its end, and it holds still when asked to."""

from __future__ import annotations

from dataclasses import replace

from pane_app import PaneApp, lines, shown
from textual.widgets import Static

from agentscope_widgets import block_bodies
from agentscope_widgets.blocks import BODY_LIMIT, Block
from agentscope_widgets.detail_view import DetailView
from agentscope_widgets.prompt_line import PromptLine
from agentscope_widgets.transcript import Transcript
from waiting import wait_until

SIZE = (60, 20)


def messages(count: int) -> list[Block]:
    return [
        Block(f"m{number}", "assistant", f"assistant {number}", f"text **{number}**\n\nmore", "markdown")
        for number in range(count)
    ]


async def test_a_block_shows_title_margin_and_body() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE):
        transcript.show(
            [
                Block("u", "user", "user", "do it\nnow", margin=("turn 1", "10:00")),
                Block("t", "tool", "✓ bash · done", "out", foldable=True, folded=True, summary="ls -la"),
                Block("p", "pause", "‖ paused", tone="warning"),
            ]
        )
        await wait_until(lambda: "paused" in shown(transcript))
        assert [line.split() for line in lines(transcript)[:6]] == [
            ["▎", "user", "turn", "1", "·", "10:00"],
            ["▎", "do", "it"],
            ["▎", "now"],
            [],
            ["▎", "▸", "✓", "bash", "·", "done", "ls", "-la"],
            ["▎", "‖", "paused"],
        ]
        assert lines(transcript)[0].endswith("10:00")


async def test_an_empty_transcript_says_what_to_do() -> None:
    transcript = Transcript(placeholder="Open a row\nwith Enter")
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE):
        await wait_until(lambda: "Open a row" in shown(transcript))
        transcript.put(0, Block("a", title="first"))
        await wait_until(lambda: "first" in shown(transcript))
        assert "Open a row" not in shown(transcript)


async def test_thousands_of_blocks_open_at_the_end_rendering_a_screenful() -> None:
    rendered: list[str] = []
    original = block_bodies.body_rows
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE):
        try:
            block_bodies.body_rows = lambda block, *rest: rendered.append(block.key) or original(block, *rest)  # type: ignore[func-returns-value]
            transcript.show(messages(2_000))
            assert len(rendered) < 20
            assert lines(transcript)[-1].split() == ["▎", "more"]
            assert "assistant 1999" in shown(transcript)
        finally:
            block_bodies.body_rows = original


async def test_it_follows_until_the_user_scrolls_up_and_then_holds_still() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE) as pilot:
        transcript.show(messages(50))
        transcript.put(50, Block("new", title="newest"))
        assert "newest" in shown(transcript)
        await pilot.press("pageup")
        assert not transcript.following
        before = lines(transcript)
        transcript.put(50, Block("new", title="newest", body="it grew\n" * 30))
        transcript.put(51, Block("newer", title="newer"))
        transcript.put(0, Block("m0", title="first", body="rewritten\n" * 100))
        assert lines(transcript)[:-1] == before[:-1]
        assert transcript.unseen == 3
        assert lines(transcript)[-1].endswith("↓ 3 new")
        await pilot.press("end")
        assert transcript.following
        assert transcript.unseen == 0
        assert "newer" in shown(transcript)


async def test_a_click_beside_the_thumb_of_the_scroll_bar_scrolls_at_once() -> None:
    """Textual would glide there, and does not survive that heights become exact on the way."""
    transcript = Transcript()
    blocks = [Block(f"b{number}", title="t", body="word " * (number % 90)) for number in range(3000)]
    app = PaneApp(transcript)
    async with app.run_test(size=(40, 20)) as pilot:
        transcript.show(blocks)
        await pilot.pause()
        for _ in range(20):
            top = transcript.scroll_offset.y
            transcript.scroll_page_up()
            assert transcript.scroll_offset.y < top
            assert not app.animator.is_being_animated(transcript, "scroll_y")
        await pilot.click(transcript.vertical_scrollbar, offset=(0, 1))
        await pilot.pause()
        assert transcript.scroll_offset.y < top


async def test_scrolling_to_the_end_and_the_badge_follow_again() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE) as pilot:
        transcript.show(messages(50))
        await pilot.press("up", "up")
        assert not transcript.following
        await pilot.press("down", "down")
        assert transcript.following
        await pilot.press("pageup")
        transcript.put(50, Block("new", title="newest"))
        await pilot.click(transcript, offset=(transcript.size.width - 6, transcript.size.height - 1))
        assert transcript.following


async def test_the_text_in_view_stays_while_heights_above_are_measured() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE):
        transcript.show([Block(f"b{n}", title=f"t{n}", body=("w" * 40 + " ") * (n % 20)) for n in range(300)])
        # Nothing is awaited up to here, so that nothing is measured ahead yet.
        transcript.scroll_lines(-3)
        before, top = lines(transcript), transcript.scroll_offset.y
        await wait_until(lambda: transcript.scroll_offset.y != top, "a height above was made exact")
        assert lines(transcript) == before


async def test_paging_up_to_the_start_shows_every_line_once() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE) as pilot:
        transcript.show([Block(f"b{n}", title=f"block-{n}", body="word " * (n * 7 % 90)) for n in range(60)])
        seen: list[str] = []
        while transcript.scroll_offset.y > 0:
            seen = [line for line in lines(transcript) if "block-" in line] + seen
            await pilot.press("pageup")
        seen = [line for line in lines(transcript) if "block-" in line] + seen
        titles = [line.split()[1] for line in seen]
        assert list(dict.fromkeys(titles)) == [f"block-{n}" for n in range(60)]


async def test_a_live_block_streams_and_is_rendered_when_it_ends() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE):
        whole = "Intro **bold**\n\n```python\nx = 1\n```\n\n- item"
        for end in range(len(whole) + 1):
            transcript.put(0, Block("a", title="assistant", body=whole[:end], format="markdown", live=True))
            assert "\x1b" not in shown(transcript)
            if whole[:end].endswith("x = 1"):
                assert "▎ ```python" in lines(transcript)
        live = lines(transcript)
        transcript.put(0, Block("a", title="assistant", body=whole, format="markdown"))
        assert lines(transcript) == live
        assert "▎  x = 1" in live
        assert "▎ • item" in live


async def test_blocks_fold_by_key_and_click_and_stay_as_the_user_left_them() -> None:
    transcript = Transcript()
    app = PaneApp(transcript, Static("other"))
    async with app.run_test(size=SIZE, message_hook=app.record) as pilot:
        tool = Block("t", "tool", "bash", "the output", foldable=True, folded=True, summary="ls")
        transcript.show([Block("u", title="user", body="hi"), tool])
        await pilot.press("space")
        assert "the output" in shown(transcript)
        transcript.put(
            1, Block("t", "tool", "bash done", "the output", foldable=True, folded=True, summary="ls")
        )
        assert "the output" in shown(transcript)
        await pilot.click(transcript, offset=(5, 3))
        assert "the output" not in shown(transcript)
        assert transcript.cursor == 1
        assert [message.key for message in app.posted(Transcript.BlockHighlighted)] == ["t"]


def conversation(calls: int) -> list[Block]:
    """For each call a pause, an answer, a tool call (the third one failed) and reasoning."""
    blocks = [Block("u", "user", "user", "do it")]
    for call in range(1, calls + 1):
        blocks += [
            Block(f"a{call}", "assistant", f"answer {call}", "text\n\nmore", "markdown", call=call),
            Block(
                f"t{call}",
                "tool",
                f"tool {call}",
                "x",
                call=call,
                tone="error" if call == 3 else "success",
                foldable=True,
                folded=True,
            ),
            Block(f"p{call}", "paused", f"paused {call}", call=call, tone="muted"),
        ]
    return blocks


async def test_keys_go_to_messages_tool_calls_blocks_and_errors() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE) as pilot:
        transcript.show(conversation(30))

        async def after(*keys: str) -> str:
            await pilot.press(*keys)
            assert transcript.cursor is not None
            chosen = transcript.blocks[transcript.cursor]
            assert chosen.title in shown(transcript)
            return chosen.key

        assert await after("home", "]", "]") == "a1"
        assert await after("]") == "a2"
        assert await after("}") == "t2"
        assert await after(")") == "p2"
        assert await after("{") == "t2"
        assert await after("(", "[") == "a1"
        assert await after("E") == "t3"
        assert await after("E") == "t3"
        assert await after("end", "[") == "a30"
        assert await after("E") == "t3"
        assert await after("home", "]") == "u"


async def test_going_on_from_the_middle_of_a_long_message_finds_the_next_one() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE) as pilot:
        transcript.show([Block(f"m{n}", "user", f"message {n}", "line\n" * 60) for n in range(5)])
        await pilot.press("home", "pagedown", "pagedown", "]")
        assert transcript.cursor == 1
        await pilot.press("pagedown", "pagedown", "[")
        assert transcript.cursor == 1


async def test_a_call_is_gone_to_by_its_number() -> None:
    transcript, prompt = Transcript(), PromptLine()
    app = PaneApp(transcript, prompt)
    async with app.run_test(size=SIZE) as pilot:
        transcript.show(conversation(30))
        await pilot.press("g", "9", "9", "enter")
        await wait_until(lambda: prompt.note == "there is no such call: 1 to 30")
        await pilot.press("backspace", "backspace", "#", "1", "2", "enter")
        await wait_until(lambda: transcript.has_focus)
        assert transcript.cursor is not None
        assert transcript.blocks[transcript.cursor].key == "a12"
        assert "answer 12" in shown(transcript)
        transcript.show([])
        await pilot.press("g")
        assert not prompt.display


async def test_kinds_are_filtered_and_an_error_brings_all_back() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE) as pilot:
        transcript.show(conversation(30))
        await pilot.press("F")
        assert "answer 30" in shown(transcript)
        assert "tool 30" not in shown(transcript)
        assert lines(transcript)[-1].startswith(" only messages")
        await pilot.press("pageup")
        transcript.put(91, Block("new", "tool", "tool 31"))
        assert transcript.unseen == 0
        transcript.put(92, Block("said", "assistant", "answer 31", call=31))
        assert transcript.unseen == 1
        await pilot.press("end", "F")
        assert [line.split()[-1] for line in lines(transcript)[:-1]] == [f"#{n}" for n in range(12, 31)]
        await pilot.press("F", "F", "F", "E")
        assert "paused 3" in shown(transcript)
        assert "only" not in lines(transcript)[-1]
        await pilot.press("end", "F", "F", "F", "F")
        assert "only" not in lines(transcript)[-1]
        assert "paused 30" in shown(transcript)


async def test_the_chosen_block_stays_chosen_when_one_comes_before_it() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE, message_hook=app.record) as pilot:
        transcript.show([Block("u", "user", "user"), Block("a", "assistant", "answer", live=True)])
        await pilot.press("[")
        assert transcript.cursor == 1
        transcript.put(1, Block("r", "reasoning", "reasoning", "why"))
        transcript.put(2, Block("a", "assistant", "answer", live=True))
        assert transcript.cursor == 2
        await pilot.pause()
        assert [message.key for message in app.posted(Transcript.BlockHighlighted)] == ["a"]


async def test_a_summary_gets_at_least_half_of_the_room_beside_a_folded_title() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=(60, 6)) as pilot:
        margin = ("done", "1.2 s", "14:03:22")
        tool = Block(
            "t",
            "tool",
            "✓ bash",
            "out",
            call=7,
            margin=margin,
            foldable=True,
            folded=True,
            summary="python -m pytest -q tests",
        )
        transcript.show([tool])
        assert " ".join(lines(transcript)[0].split()) == (
            "▎ ▸ ✓ bash python -m pytest -q tests #7 · done · 1.2 s"
        )
        await pilot.press("space")
        assert lines(transcript)[0].endswith("#7 · done · 1.2 s · 14:03:22")


async def test_a_block_that_is_unfolded_at_the_end_comes_into_sight() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE) as pilot:
        tool = Block("t", "tool", "bash", "one\ntwo\nthree", foldable=True, folded=True)
        transcript.show([*messages(30), tool])
        await pilot.press("space")
        assert lines(transcript)[-4:] == ["▎ ▾ bash", "▎ one", "▎ two", "▎ three"]
        assert transcript.following
        transcript.put(30, replace(tool, body="line\n" * 50, key="long"))
        transcript.set_folded(30, False)
        assert lines(transcript)[:2] == ["▎ ▾ bash", "▎ line"]


async def test_a_new_width_keeps_the_place() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE) as pilot:
        transcript.show([Block(f"b{n}", title=f"block-{n}", body="many words " * 30) for n in range(100)])
        transcript.go_to(50)
        await pilot.resize_terminal(90, 30)
        await wait_until(lambda: transcript.text_width > 80)
        assert "block-50" in shown(transcript)
        await pilot.press("end")
        await pilot.resize_terminal(40, 12)
        await wait_until(lambda: transcript.text_width < 50)
        assert transcript.is_vertical_scroll_end


async def test_a_huge_body_is_shortened_and_says_so() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE):
        transcript.show([Block("a", title="tool", body="z" * (BODY_LIMIT + 5_000) + "\nthe end")])
        assert "the end" in shown(transcript)
        view = transcript.blocks[0]
        rows = transcript._layout.body(0)
        text = "\n".join("".join(run.text for run in row) for row in rows)
        assert "5,008 characters are not shown" in text
        assert len(text) < len(view.body)


async def test_another_theme_recolours_what_was_drawn() -> None:
    transcript = Transcript()
    app = PaneApp(transcript)
    async with app.run_test(size=SIZE):
        transcript.show(messages(3))
        before, dark = lines(transcript), transcript.look
        app.theme = "textual-light"
        await wait_until(lambda: transcript.look != dark)
        assert lines(transcript) == before


async def test_a_detail_view_opens_at_its_start_and_stays() -> None:
    view = DetailView()
    app = PaneApp(view)
    async with app.run_test(size=SIZE) as pilot:
        view.show(messages(30))
        assert "assistant 0" in lines(view)[0]
        await pilot.press("end")
        before = lines(view)
        view.put(30, Block("x", title="more"))
        assert lines(view) == before
        assert view.unseen == 0
