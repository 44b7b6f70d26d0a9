"""What the server of a local model gets of this process's environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_tui.models.chat import ModelError
from agentscope_tui.models.local_server import LocalOptions, LocalServer


async def test_it_gets_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-of-a-key")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    interpreter = tmp_path / "python"
    interpreter.write_text(f"#!/bin/sh\nenv >{tmp_path}/seen\n")
    interpreter.chmod(0o700)
    server = LocalServer(LocalOptions(tmp_path / "weights.gguf", python=str(interpreter)))
    server.acquire()
    with pytest.raises(ModelError, match="did not start"):
        await server.running()
    await server.release()
    seen = (tmp_path / "seen").read_text()
    assert "CUDA_VISIBLE_DEVICES=0" in seen
    assert "canary" not in seen
