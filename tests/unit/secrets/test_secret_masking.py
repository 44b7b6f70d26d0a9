"""What is taken for a secret and what is not, whole and in pieces."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import uuid
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentscope_tui.secrets import LONGEST_HELD, Masker, secret_values

RANDOM = random.Random(7)


def some(alphabet: str, count: int) -> str:
    return "".join(RANDOM.choices(alphabet, k=count))


WORD = string.ascii_letters + string.digits
PEM_BODY = "\n".join(some(WORD + "+/", 64) for _ in range(24))
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----"
JWT = ".".join(
    base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
    for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": "1234567890", "name": "x"})
)

KEYS = {
    "openai": ("sk-", "T3" + some(WORD, 46)),
    "openai project": ("sk-", "proj-a1-" + some(WORD + "_-", 30) + some(WORD, 80)),
    "anthropic": ("sk-", "ant-api03-" + some(WORD, 40) + "-_" + some(WORD, 40) + "AA"),
    "stripe": ("sk_live_", some(WORD, 24)),
    "google": ("AIza", "Sy" + some(WORD + "-_", 33)),
    "github": ("ghp_", some(WORD, 36)),
    "github fine": ("github_pat_", some(WORD, 22) + "_" + some(WORD, 59)),
    "gitlab": ("glpat-", "x1" + some(WORD, 18)),
    "hugging face": ("hf_", some(string.ascii_letters, 34)),
    "groq": ("gsk_", "1a" + some(WORD, 50)),
    "slack": ("xoxb-", "123456789012-1234567890123-" + some(WORD, 24)),
    "aws id": ("AKIA", some(string.ascii_uppercase + string.digits, 16)),
    "aws secret": ("aws_secret_access_key = ", some(WORD + "+/", 40)),
    "aws secret in json": ('"SecretAccessKey": "', some(WORD + "+/", 40)),
    "bearer": ("Bearer ", "1a" + some(WORD + "._-", 30)),
    "jwt": ("eyJ", JWT[3:] + "." + some(WORD + "-_", 43)),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----", PEM.removeprefix("-----BEGIN RSA PRIVATE KEY-----")),
}
AROUND = [
    ("", ""),
    ("the key is ", ", keep it"),
    ("KEY=", "\n"),
    ('{"key": "', '"}'),
    ("line\\n", "\\nline"),
    ("\x1b[01;31m\x1b[K", "\x1b[m"),
    ("q%3D", "&x=1"),
    ("url?key=", "&more=1"),
    ("\\u0022", "\\u0022"),
    ("'", "'"),
]

NEAR_MISSES = [
    hashlib.sha1(b"a").hexdigest(),
    hashlib.sha256(b"a").hexdigest(),
    str(uuid.UUID(int=RANDOM.getrandbits(128))),
    f"commit {hashlib.sha1(b'b').hexdigest()} (HEAD -> main)",
    base64.b64encode(RANDOM.randbytes(3000)).decode(),
    "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n" + RANDOM.randbytes(900)).decode(),
    "sha512-" + base64.b64encode(RANDOM.randbytes(64)).decode(),
    "ssh-ed25519 " + base64.b64encode(RANDOM.randbytes(60)).decode() + " me@host",
    "-----BEGIN PUBLIC KEY-----\n" + PEM_BODY + "\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + PEM_BODY + "\n-----END CERTIFICATE-----",
    'if "-----BEGIN PRIVATE KEY-----" in text: refuse_it()',
    "task-management-2024-for-the-long-run-and-more",
    "sk-learn-plots-from-2024-01-05-to-the-end-of-it-all",
    "risk-averse disk-image desk-sk-short sk-1234",
    "AKIAH! said ASIANMARKETSANDMOREOFIT, AIzawl",
    "the bearer authentication-scheme-and-its-long-name, Bearer tokens_are_what_people_send",
    "ghp_short npm_config_registry_of_the_whole_company hf_transfer_is_enabled_by_default",
    "eyJust.eyJoking.about it",
    "xoxo, see you",
    "os.environ['AWS_SECRET_ACCESS_KEY'] = load_the_secret()",
    "call_" + some(WORD, 24),
    "chatcmpl-" + some(WORD, 29),
    "/usr/lib/python3.11/site-packages/mask-rcnn-1.0.dist-info/METADATA",
]


@pytest.mark.parametrize(("before", "after"), AROUND)
@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_masked_and_nothing_else(kind: str, before: str, after: str) -> None:
    head, secret = KEYS[kind]
    assert Masker().mask(f"{before}{head}{secret}{after}") == f"{before}{head}***{after}"


@pytest.mark.parametrize("text", NEAR_MISSES, ids=[text[:24] for text in NEAR_MISSES])
def test_what_is_no_key_stays(text: str) -> None:
    assert Masker().mask(text) == text
    assert in_pieces(Masker(), text, 7) == text


def test_a_private_key_with_escaped_newlines_or_without_its_end() -> None:
    assert Masker().mask(json.dumps(PEM)) == '"-----BEGIN RSA PRIVATE KEY-----***"'
    head, cut = "-----BEGIN PRIVATE KEY-----", PEM_BODY[:300]
    assert Masker().mask(f"{head}\n{cut}") == f"{head}***"


VALUES = ["correct horse battery", 'pass"word\\1', "pässwörd-long", "sk-1234567"]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "form",
    [
        str,
        json.dumps,
        lambda value: json.dumps(value, ensure_ascii=False),
        lambda value: quote(value, safe=""),
        lambda value: value.encode().decode("latin-1"),
        lambda value: value * 2,
    ],
    ids=["plain", "json", "json utf-8", "url", "bytes", "twice"],
)
def test_known_values_are_masked_in_every_form(value: str, form: object) -> None:
    assert callable(form)
    masked = Masker(VALUES).mask(f"a {form(value)} b")
    assert masked.replace('"', "").replace("***", "", 2) == "a  b"


def test_short_values_are_words_and_none() -> None:
    assert Masker(["secret", "", "   1234567   "]).mask("a secret 1234567") == "a secret 1234567"


def test_a_secret_in_a_secret() -> None:
    masker = Masker(["abcdefgh", "abcdefgh-ijklmnop", "mnopqrstuv"])
    assert masker.mask("x abcdefgh-ijklmnop y abcdefgh z") == "x *** y *** z"
    assert masker.mask("abcdefgh-ijklmnopqrstuv") == "***"
    assert masker.mask("Authorization: Bearer abcdefgh-ijklmnop1!") == "Authorization: Bearer ***!"


def test_what_is_learnt_later_is_masked_from_then_on() -> None:
    masker = Masker()
    stream = masker.stream()
    assert stream.take("first-one ") == "first-one "
    masker.learn(["first-one"])
    assert stream.take("first-one ") + stream.rest() == "*** "
    more = masker.also(["second-one"])
    assert (more.mask("second-one"), masker.mask("second-one")) == ("***", "second-one")
    assert masker.also(["first-one"]) is masker


def test_json_data_is_masked_at_every_depth_and_else_the_same() -> None:
    masker = Masker(["top-secret"])
    same = {"a": [1, None, {"b": "c"}], "d": True}
    assert masker.masked(same) is same
    assert masker.masked({"a": [1, {"top-secret": "a top-secret"}]}) == {"a": [1, {"***": "a ***"}]}
    deep: object = "top-secret"
    for _ in range(5000):
        deep = [deep]
    assert "…" in str(masker.masked(deep))


def test_what_was_edited_gets_its_own_secrets_back() -> None:
    masker = Masker(["secret-one", "secret-two"])
    original = {"command": "use secret-one", "more": ["secret-two", 1]}
    assert masker.masked(original) == {"command": "use ***", "more": ["***", 1]}
    edited = {"command": "now use *** here", "more": [2, "***"]}
    assert masker.restored(edited, original) == {
        "command": "now use secret-one here",
        "more": [2, "secret-two"],
    }
    for other in ({"command": "use ***"}, "*** *** ***", "nothing"):
        assert masker.restored(other, original) == other
    assert masker.restored("a *** b", "no secret") == "a *** b"


def test_which_variables_hold_secrets() -> None:
    environ = {
        "OPENAI_API_KEY": "k1",
        "DB_PASSWORD": "k2",
        "GH_TOKEN": "k3",
        "my_secret": "k4",
        "SSH_AUTH_SOCK": "/run/agent.1",
        "SSL_KEY": "~/key.pem",
        "PATH": "/bin",
        "KEYBOARD": "de",
        "TOKENIZERS_PARALLELISM": "false",
    }
    assert secret_values(environ) == ["k1", "k2", "k3", "k4"]


def in_pieces(masker: Masker, text: str, size: int) -> str:
    stream = masker.stream()
    told = [stream.take(text[place : place + size]) for place in range(0, len(text), size)]
    return "".join(told) + stream.rest()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 33])
@pytest.mark.parametrize("kind", KEYS)
def test_a_key_in_pieces_is_masked_as_a_whole_one(kind: str, size: int) -> None:
    head, secret = KEYS[kind]
    text = f"it is {head}{secret}, and again:\n{head}{secret}\n"
    masker = Masker(VALUES)
    assert in_pieces(masker, text, size) == masker.mask(text)


@pytest.mark.parametrize("cut", range(1, len(VALUES[0]) + 4))
def test_a_known_value_cut_at_each_place(cut: int) -> None:
    stream = Masker(VALUES).stream()
    text = f"a {VALUES[0]} b"
    first = stream.take(text[:cut])
    assert "corr" not in first
    assert first + stream.take(text[cut:]) + stream.rest() == "a *** b"


def test_only_what_may_be_a_secret_is_held_back() -> None:
    stream = Masker(["abcdefgh"]).stream()
    assert stream.take("tasks and desks") == "tasks and desks"
    assert stream.take(" then abc") == " then "
    assert stream.take("x sk-") == "abcx sk-"
    assert stream.take("1") == ""
    assert stream.take(" ") == "1 "
    assert stream.rest() == ""


def test_what_never_ends_is_not_held_back_for_ever() -> None:
    stream = Masker().stream()
    told = "".join(stream.take("sk-a" + "b-" * 5000) for _ in range(10))
    assert len(told) + 2 * LONGEST_HELD > 10 * 10_004


PIECES = st.lists(
    st.sampled_from(
        [
            *(head for head, _ in KEYS.values()),
            *(secret[:30] for _, secret in KEYS.values()),
            *("abcdefgh", "abcd", "efgh", " ", "\n", "-", "A1", "x", "\\n", "\\", "sk-", '"'),
            "Proc-Type: 4,ENC",
        ]
    ),
    max_size=12,
)


PEM_HEAD = "-----BEGIN RSA PRIVATE KEY-----"
BODY = "ncpv34ZcWRO9diU6PsKUguph"


@given(PIECES, st.integers(1, 40))
@example([PEM_HEAD, BODY * 2, "\\n"], 1)
@example([PEM_HEAD, "\nProc-Type: 4,ENCRYPTED\n\n", BODY * 2], 1)
@example([f"sk-{BODY}{PEM_HEAD}{BODY}AAAAAA", "sk-"], 1)
def test_pieces_are_masked_as_the_whole_is(parts: list[str], size: int) -> None:
    masker, text = Masker(["abcdefgh", "cdefghijk"]), "".join(parts)
    assert in_pieces(masker, text, size) == masker.mask(text)


@pytest.mark.parametrize(
    "filling", ["x ", "é ", "\ud800 ", "sk-"], ids=["ascii", "latin", "surrogates", "heads"]
)
@given(PIECES)
@example(["x", "abcdefghijk"])
@example([" ", *KEYS["openai"]])
def test_a_long_text_is_masked_as_a_short_one_is(filling: str, parts: list[str]) -> None:
    masker, text, around = Masker(["abcdefgh", "cdefghijk"]), " ".join(parts), filling * 3000
    assert masker.mask(f"{around} {text} {around}") == f"{around} {masker.mask(text)} {around}"


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_that_two_long_pieces_share_is_masked(kind: str) -> None:
    head, secret = KEYS[kind]
    text = "a line of output, risk-free\n" * 3000 + head + secret + "\nand more of it" * 5000
    for cut in range(len(head) + 2):
        place = text.index(head + secret) + cut * len(head + secret) // (len(head) + 1)
        assert in_pieces(Masker(VALUES), text, place) == Masker().mask(text)


@pytest.mark.parametrize(
    "value", [*VALUES, "a value <with> {all} [kinds] (of) ^signs$ .*+?|\\ #&~\n\t/", "\ud800" * 9], ids=ascii
)
def test_a_value_is_found_in_a_long_text(value: str) -> None:
    masked = Masker([value]).mask(f"{'some output ' * 1000}{value}{' and more' * 1000}")
    assert masked == f"{'some output ' * 1000}***{' and more' * 1000}"
