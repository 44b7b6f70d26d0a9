"""The head of a page of ours: it loads nothing, and no script runs in it but the one it is written with."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path


def head_of(title: str, generator: str, style: str, script: str) -> str:
    """A page up to and with its opening `body`. `title` is escaped; `generator` is the `meta` that says who
    wrote it; the page's policy admits `script`, which stands where the page puts it."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{generator}
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
"""


@lru_cache(maxsize=1)
def page_style() -> str:
    """The look that all pages share."""
    return Path(__file__).with_name("page.css").read_text(encoding="utf-8")
