"""From raw text to text without secrets."""

import hashlib
import hmac
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foundation.texts import RawText
from privacy.redaction import fingerprint, redact, redact_many, secrets_in
from privacy.secrets import find
from privacy.secrets.detectors import detectors
from privacy.secrets.examples import made

TEMPLATES = [template for detector in detectors() for template in detector.examples]


def test_each_secret_becomes_a_marker_that_names_its_kind() -> None:
    """A reader sees that something was there, what kind of thing, and all the rest of the text."""
    token, password = made("ghp_{an:36}").text, made("{an:16}").text
    redacted = redact(RawText(f"use {token} and postgres://me:{password}@db/app, schön"))
    assert redacted.text == "use [redacted:github-token] and postgres://me:[redacted:url-password]@db/app, schön"
    assert redacted.count == 2


@pytest.mark.parametrize(
    "text", ["", "plain", "password: string", "🚀 数据库", "\ud800 alone", "a\0b", "\x1b[31mred\x1b[0m"]
)
def test_text_without_secrets_stays_as_it_is(text: str) -> None:
    """Nothing is changed but secrets, whatever characters the text has."""
    assert redact(RawText(text)) == (text, 0)


@pytest.mark.parametrize("template", TEMPLATES)
def test_redacting_twice_changes_nothing(template: str, contexts: dict[str, Callable[[str], str]]) -> None:
    """What was redacted holds no secret any more, and a marker is none."""
    for put in contexts.values():
        once = redact(RawText(put(made(template).text)))
        assert redact(RawText(once.text)) == (once.text, 0)


_PIECES = st.sampled_from(
    [made(template).text for template in TEMPLATES]
    + ["password", "=", ": ", '"', "\\", "\n", " ", "[redacted:x]", "://", "@", "sk-", "ghp_", "\u200b", "\x1b[0m", "é"]
)


@given(st.lists(_PIECES, max_size=8).map("".join))
@example("password=[redacted:token]aB3dE5gH7jK9")
@example('token="[redacted:jwt]')
def test_redacting_any_mixture_twice_changes_nothing(text: str) -> None:
    """However secrets, names and marks are mixed, one redaction is enough."""
    once = redact(RawText(text)).text
    assert redact(RawText(once)) == (once, 0)


@given(st.lists(st.one_of(st.lists(_PIECES, max_size=4).map("".join), st.text()), max_size=6))
@example(["password", "= aB3dE5gH7jK9x"])
@example(["a login", "clean", "", "token=", "\ud800"])
def test_many_texts_are_redacted_as_each_alone(texts: list[str]) -> None:
    """Texts that are looked at together do not touch each other, whatever they begin and end with."""
    raw = list(map(RawText, texts))
    assert redact_many(raw) == [redact(text).text for text in raw]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_secret_among_many_texts_is_found(template: str) -> None:
    """Every kind of secret is found in a text that stands between others."""
    raw = [RawText("clean"), RawText(made(template).text), RawText("1 clean"), RawText(f"x {made(template).text}")]
    assert redact_many(raw) == [redact(text).text for text in raw]


def test_a_secret_is_redacted_before_anything_is_cut(leak: Callable[..., str]) -> None:
    """Text that was redacted whole can be cut anywhere: no cut leaves a fragment of a secret."""
    key = made("sk-proj-{an:48}").text
    text = redact(RawText(f"before {key} after")).text
    assert all(leak(key, text[at : at + 20]) == "" for at in range(len(text)))


def test_secrets_in_gives_the_places() -> None:
    """The audit learns where the secrets are and of which kind."""
    text = made("x «ghp_{an:36}» y")
    assert [(secret.start, secret.end, secret.kind) for secret in secrets_in(RawText(text.text))] == [
        (*text.spans[0], "github-token")
    ]
    assert secrets_in(RawText("nothing")) == find("nothing") == []


def test_a_fingerprint_needs_the_key() -> None:
    """Equal secrets have equal fingerprints under one key, and other ones under another: guesses cannot be tested."""
    one, other = b"k" * 32, b"l" * 32
    expected = hmac.new(one, b"hunter2", hashlib.sha256).hexdigest()[:12]
    assert fingerprint("hunter2", one) == expected
    assert fingerprint("hunter2", one) != fingerprint("hunter2", other)
    assert fingerprint("hunter2", one) != fingerprint("hunter3", one)
    assert len(fingerprint("\ud800é", one)) == 12
