"""Base URLs as users write them, and keys that never show."""

from __future__ import annotations

import pytest

from agentscope_tui.errors import UserError
from agentscope_tui.models.endpoint import Endpoint, api_url, checked_key

URLS = {
    "https://api.openai.com": "https://api.openai.com/v1/chat/completions",
    "https://api.openai.com/v1": "https://api.openai.com/v1/chat/completions",
    " https://api.openai.com/v1/ ": "https://api.openai.com/v1/chat/completions",
    "http://localhost:8080": "http://localhost:8080/v1/chat/completions",
    "http://localhost:8080//": "http://localhost:8080/v1/chat/completions",
    "http://[::1]:8080/v1": "http://[::1]:8080/v1/chat/completions",
    "https://x.test/v1/chat/completions": "https://x.test/v1/chat/completions",
    "https://x.test/chat/completions/": "https://x.test/chat/completions",
    "https://x.test/v1?api-version=2": "https://x.test/v1/chat/completions?api-version=2",
    "https://x.test?a=b#c": "https://x.test/v1/chat/completions?a=b",
    "https://openrouter.ai/api": "https://openrouter.ai/api/v1/chat/completions",
    "https://g.test/v1beta/openai/": "https://g.test/v1beta/openai/chat/completions",
    "https://r.test/openai/deployments/d?api-version=1": (
        "https://r.test/openai/deployments/d/chat/completions?api-version=1"
    ),
}


@pytest.mark.parametrize(("base", "url"), URLS.items())
def test_base_urls(base: str, url: str) -> None:
    assert api_url(base) == url


@pytest.mark.parametrize(
    "base",
    [
        "",
        "localhost:8080",
        "x.test/v1",
        "ftp://x.test",
        "http://",
        "http://x.test:99999",
        "http://a b/",
        "http://[",
    ],
)
def test_what_is_no_base_url(base: str) -> None:
    with pytest.raises(UserError, match=r"base URL .*write it like http://localhost:8080/v1"):
        api_url(base)


def test_a_url_is_shown_without_its_secrets() -> None:
    url = "https://me:pass@x.test:1/v1?api-version=1&key=query-key&sig=s"
    endpoint = Endpoint(url, checked_key("sk-secret", "K"))
    assert endpoint.shown == "https://x.test:1/v1"
    assert endpoint.logged == "https://x.test:1/v1?api-version=1&key=***&sig=***"
    assert endpoint.host == "x.test:1"
    assert "sk-secret" not in repr(endpoint)
    assert "query-key" not in repr(endpoint)
    assert endpoint.mask("no sk-secret here, no query-key there") == "no *** here, no *** there"


def test_a_word_that_a_local_server_takes_for_a_key_is_no_secret() -> None:
    endpoint = Endpoint("http://localhost:11434/v1", checked_key("ollama", "K"))
    assert endpoint.mask("is ollama running?") == "is ollama running?"


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_no_key(value: str | None) -> None:
    assert checked_key(value, "K") is None


@pytest.mark.parametrize("value", ["sk-\nsecret", "sk-sécret", "sk secret", "sk-\x00secret"])
def test_a_key_that_cannot_be_sent(value: str) -> None:
    with pytest.raises(UserError, match="the key from MY_KEY has characters that no key has") as caught:
        checked_key(value, "MY_KEY")
    assert "cret" not in str(caught.value)
