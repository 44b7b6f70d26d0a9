"""The raw text of each call: all that was sent and received, and no key."""

from __future__ import annotations

import asyncio
import logging
import stat
from pathlib import Path

import pytest

from agentscope_tui.models.chat import ChatRequest, ModelError
from agentscope_tui.models.factory import open_model
from agentscope_tui.models.wire_log import WireFile, WireFolder
from agentscope_tui.secrets import MASKER
from fakes.raw_server import STREAM, HangUp, RawServer, Step, Wait, delta, plain, says, stream

KEY = "sk-very-secret"
REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}])


async def logged(folder: Path, *answers: list[Step], base_url: str = "") -> str:
    """What the log of one call holds."""
    wire = WireFolder(folder / "wire")
    async with RawServer([*answers]) as server:
        model = open_model("openai:m", base_url=base_url or server.base_url, api_key=KEY, retries=1)
        try:
            await model.complete(REQUEST, lambda piece: None, wire=wire.open(7))
        except ModelError:
            pass
        await model.aclose()
    return wire.path(7).read_text(encoding="utf-8")


async def test_request_and_response(tmp_path: Path) -> None:
    text = await logged(tmp_path, list(says("héllo")))
    begin, _, answer = text.partition("\n<<< 200 after ")
    assert begin.startswith(">>> POST http://127.0.0.1:")
    assert "authorization: ***\n" in begin
    assert '"messages": [{"role": "user", "content": "hi"}]' in begin
    assert "content-type: text/event-stream\n" in answer.lower()
    assert answer.count("\n--- ") >= 3
    assert "h\\u00e9llo" in answer
    assert "data: [DONE]" in answer
    assert "=== the body ended after " in answer
    assert KEY not in text


async def test_files_are_private(tmp_path: Path) -> None:
    await logged(tmp_path, list(says("x")))
    assert stat.S_IMODE((tmp_path / "wire").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "wire" / "call-0007.txt").stat().st_mode) == 0o600


async def test_every_attempt_is_there(tmp_path: Path) -> None:
    text = await logged(tmp_path, list(plain(503, "busy", "Retry-After-Ms: 1")), list(says("x")))
    assert text.count(">>> POST") == 2
    assert "<<< 503 after" in text
    assert "busy" in text
    assert "<<< 200 after" in text


async def test_a_key_that_the_provider_repeats_in_two_chunks(tmp_path: Path) -> None:
    text = await logged(tmp_path, [*stream(b": your key is sk-very", b"-secret, yes\n\n"), *says("x")[1:]])
    assert KEY not in text
    assert "sk-very" not in text
    assert "***, yes" in text


async def test_keys_in_the_url(tmp_path: Path) -> None:
    async with RawServer([says("x")]) as server:
        url = f"http://me:pass-word@127.0.0.1:{server.port}/v1?api-version=1&key=query-key"
        wire = WireFolder(tmp_path)
        model = open_model("openai:m", base_url=url, api_key=KEY)
        await model.complete(REQUEST, lambda piece: None, wire=wire.open(1))
        await model.aclose()
    text = wire.path(1).read_text()
    assert "api-version=1&key=***" in text
    assert "pass-word" not in text
    assert "query-key" not in text


async def test_cookies_are_kept_out(tmp_path: Path) -> None:
    text = await logged(tmp_path, list(plain(400, "no", "Set-Cookie: session=abc123")))
    assert "abc123" not in text
    assert "set-cookie: ***" in text.lower()


async def test_how_a_failed_call_ended(tmp_path: Path) -> None:
    text = await logged(tmp_path, [*stream(delta(content="Hel")), HangUp()])
    assert "Hel" in text
    assert "=== " in text


async def test_a_call_that_was_interrupted(tmp_path: Path) -> None:
    wire = WireFolder(tmp_path)
    seen = asyncio.Event()
    async with RawServer([[STREAM, delta(content="Hel"), Wait()]]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        task = asyncio.create_task(model.complete(REQUEST, lambda piece: seen.set(), wire=wire.open(1)))
        await asyncio.wait_for(seen.wait(), 10)
        # What has come so far can be read while the call still runs.
        assert '"content": "Hel"' in wire.path(1).read_text()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.aclose()
    assert "=== cut off by agentscope after" in wire.path(1).read_text()


def clocked(path: Path, largest: int = 10_000) -> WireFile:
    return WireFile(path, largest=largest, clock=lambda: 0.0)


def test_a_file_is_bounded_and_says_so(tmp_path: Path) -> None:
    file = clocked(tmp_path / "x", largest=200)
    file.request("POST", "http://x", [], "{}", [])
    for _ in range(100):
        file.chunk(b"0123456789")
    file.end("the body ended")
    text = (tmp_path / "x").read_text()
    assert len(text) < 300
    assert "characters left out)" in text


def test_characters_split_between_chunks(tmp_path: Path) -> None:
    file = clocked(tmp_path / "x")
    file.request("POST", "http://x", [], "{}", [])
    for byte in "é😀".encode():
        file.chunk(bytes([byte]))
    file.chunk(b"\xff")
    file.end("the body ended")
    text = (tmp_path / "x").read_text(encoding="utf-8")
    assert "é" in text
    assert "😀" in text
    assert "\ufffd" in text


def test_what_looks_like_the_start_of_a_key_is_not_lost(tmp_path: Path) -> None:
    file = clocked(tmp_path / "x")
    file.request("POST", "http://x", [], "{}", ["a-secret", "a-secret-long"])
    file.chunk(b"an a-secret-long one, an a-secret one, a-sec")
    file.chunk(b"ond one, a-secre")
    file.end("the body ended")
    text = (tmp_path / "x").read_text()
    assert "an *** one, an *** one, " in text
    assert "a-second one, a-secre" in text.replace("\n--- 0.000 s, 16 bytes\n", "")


async def test_a_file_that_cannot_be_written_stops_no_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "wire").write_text("not a folder")
    caplog.set_level(logging.WARNING)
    wire = WireFolder(tmp_path / "wire")
    async with RawServer([says("x")]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        completion = await model.complete(REQUEST, lambda piece: None, wire=wire.open(1))
        await model.aclose()
    assert completion.text == "x"
    assert caplog.text.count("is not kept") == 1


async def test_the_keys_of_other_providers_are_kept_out_too(tmp_path: Path) -> None:
    MASKER.learn(["sk-another"])
    wire = WireFolder(tmp_path)
    async with RawServer([says("your sk-another")]) as server:
        model = open_model("openai:m", base_url=server.base_url)
        request = ChatRequest(messages=[{"role": "user", "content": "sk-another"}])
        await model.complete(request, lambda piece: None, wire=wire.open(1))
        await model.aclose()
    assert "sk-another" not in wire.path(1).read_text()
