"""Strips what a recording says of the machine: `strip.py SESSION_FOLDER TARGET PATH=WORD ...`.

Copies events and meta with each PATH replaced by its WORD, and what was computed from the texts made anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

from agentscope_tui.event_lines import event_from_json
from agentscope_tui.events import LlmRequestSent
from agentscope_tui.session.exchanges import Exchanges
from agentscope_tui.session.history import digest


def main() -> None:
    session, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.mkdir(parents=True)
    for name in ("events.jsonl", "meta.json"):
        text = (session / name).read_text(encoding="utf-8")
        for pair in sys.argv[3:]:
            path, _, word = pair.rpartition("=")
            text = text.replace(path, word)
        (target / name).write_text(with_digests(text) if name == "events.jsonl" else text, encoding="utf-8")


def with_digests(text: str) -> str:
    """The events with the digests of the requests as they are now."""
    requests = Exchanges()
    for line in text.splitlines():
        event = event_from_json(line)
        if isinstance(event, LlmRequestSent):
            requests.sent(event)
            text = text.replace(event.digest, digest(requests.request(event.call)))
    return text


if __name__ == "__main__":
    main()
