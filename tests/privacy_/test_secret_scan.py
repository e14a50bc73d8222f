"""The scan itself: offsets, order, hostile texts, and work that grows with the length only."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.texts import RawText
from privacy.redaction import redact
from privacy.secrets import find, scanning
from privacy.secrets.examples import made
from privacy.secrets.quoted import read
from privacy.secrets.runs import further, piece_end
from privacy.secrets.scanning import trigger

TOKEN = made("ghp_{an:36}").text
WIDE = ["é", "数据库", "🚀", "\ud800", "\udfff🚀", "\u0301", "ﬀ", "\u00a0"]


@pytest.mark.parametrize("before", WIDE)
@pytest.mark.parametrize("after", WIDE)
def test_offsets_count_characters(before: str, after: str) -> None:
    """Places are those of the Python string, whatever each character takes in UTF-8, lone surrogates included."""
    text = f"{before} {TOKEN} {after} {TOKEN}{after}"
    first, second = find(text)
    assert text[first.start : first.end] == text[second.start : second.end] == TOKEN


def test_offsets_hold_with_invisible_parts() -> None:
    """Places in a text with invisible parts are those of the text, and the parts inside a key belong to it."""
    text = f"é\u200b\u200b {TOKEN[:9]}\u200b{TOKEN[9:]}\u200b 数 \x1b[0m{TOKEN}"
    first, second = find(text)
    assert text[first.start : first.end] == f"{TOKEN[:9]}\u200b{TOKEN[9:]}"
    assert text[second.start : second.end] == TOKEN


def test_offsets_hold_with_escapes_and_invisible_parts() -> None:
    """Places in a text with escapes are those of the text, and the escapes inside a key belong to it."""
    escaped = f"{TOKEN[:3]}\\u005f{TOKEN[4:9]}\u200b{TOKEN[9:-1]}\\u00{ord(TOKEN[-1]):x}"
    text = f"é%20 &amp; ｇｈ {escaped}\u200b 数 {TOKEN} %22password%22%3A%22hunter2-Kx9%22"
    assert [text[secret.start : secret.end] for secret in find(text)] == [escaped, TOKEN, "hunter2-Kx9"]


def test_a_secret_among_the_arguments_of_a_tool_is_found() -> None:
    """The next item of a list, each on a line as a tool's arguments are written, is the value of the flag before it."""
    key = made("{an:32}").text
    for text in (
        f"args: --token\nargs: {key}",
        f"run.args: -v\nrun.args: --api-key\nrun.args: {key}",
        f"--token\n{key}",
    ):
        assert redact(RawText(text)).text == text.replace(key, "[redacted:token]").replace(
            "--api-key\nrun.args: [redacted:token]", "--api-key\nrun.args: [redacted:api-key]"
        )
    for text in (f"args: --token\ncwd: {key}", f"use --token\n{key}"):
        assert redact(RawText(text)).text == text


_ANY = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("=:\"'\\/@-_. \n\r\x1b\u200b\ud800{}[]()<>$")))
_BITS = st.sampled_from(
    ["password", "token=", "sk-", "ghp_", "eyJ", "AKIA", "://", "@", "-----BEGIN PRIVATE KEY-----", "\\n",
    "\\\\", '"', "\n",
     "Bearer ", "-us1", "_mmk", "1Q~", "+ASt", ".atlasv1.", "otpauth://x?secret=", "&sig=", ":AA", "a" * 40, "0a" * 20,
     "curl -u a:", "sshpass -p ", "login a password ", ":5432:a:b:", "\x1b[0m", "\u200b", "[redacted:",
     "Private-Lines: 3\n", "&quot;", "%22", "\\u0022", "\\u005f", "ｇ", "&#34;", "%2522", "| ", "Cookie: ", "session=", "ENV ",
     "**", ": |\n  ", "--token\nargs: ", "X-Amz-Signature=", "secret_", "cio", "oy2"]
)  # fmt: skip


@given(st.lists(st.one_of(_BITS, _ANY), max_size=12).map("".join))
def test_any_text_gives_spans_in_order_without_overlaps(text: str) -> None:
    """No text breaks the scan, and what it gives can be cut out one after the other."""
    at = 0
    for secret in find(text):
        assert at <= secret.start < secret.end <= len(text)
        assert secret.kind
        at = secret.end


@pytest.mark.parametrize(
    "template",
    ["ghp_{an:36}", "sk-proj-{an:48}", "sk-ant-api03-{url:93}AA", "xoxb-{dec:12}-{an:24}", "{jwt}", "glpat-{url:20}"],
)
def test_a_key_that_the_end_cuts_off_is_found(template: str) -> None:
    """From twelve or so characters behind the prefix on, what is there of a key is found."""
    key = made(template).text
    prefix = 60 if key.startswith("eyJ") else key.rfind("-", 0, 14) + 1 if "-" in key[:14] else 4
    for length in range(prefix + 14, len(key) + 1):
        if key[length - 1] == ".":
            continue  # the full stop of a sentence, as far as anybody can tell
        text = f"see {key[:length]}"
        assert [text[secret.start : secret.end] for secret in find(text)] == [key[:length]]


def test_two_secrets_side_by_side_are_two_finds() -> None:
    """Neighbours in a list, a line or a URL do not hide each other."""
    other = made("glpat-{url:20}").text
    for between in (" ", ",", "\n", "|", ";", '","', "&b=", "</a><a>"):
        text = f"{TOKEN}{between}{other}"
        assert [text[secret.start : secret.end] for secret in find(text)] == [TOKEN, other]


def test_a_long_value_is_found_to_its_end() -> None:
    """A secret of thousands of characters is one find, quoted or not."""
    long = made("{b64:9000}").text
    for text in (f'client_secret: "{long}"', f"client-key-data: {long}\nnext: 1", f"CLIENT_SECRET={long}"):
        (secret,) = find(text)
        assert text[secret.start : secret.end] == long


def test_a_look_reads_a_bounded_stretch() -> None:
    """However long a run of key characters is, a look takes in 1024 of them, and only a find is followed further."""
    assert piece_end(b"a" * 5_000, 0, "alnum") == 1_024
    assert further(b"a" * 5_000, 1_024, "alnum") == 5_000
    quoted = read(b'"' + b"a" * 5_000 + b'"', 0, 512)
    assert quoted is not None
    assert len(quoted.text) == 512


UNITS = [
    "a", " ", "\n", "\\", '"', "password=", 'password="', "password: '\\", "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----\n", "-----BEGIN", "sk-", "sk-\n", "eyJ", "eyJhbGciOiJub25lIn0.", "QUJDREVGR0hJ",
    "://a:b",
    "://a:b@", "ghp_", "AKIA", "bearer aaaaaaaa ", "\x1b[0m", "\x1b", "\u200b", "login a ",
    "token=aB3dE5gH7jK9mN1pQ3s\n",
    "1234567890:AA", "--token ", "aB3_dE5-gH7", "xoxb-", "\\u200b", "password\n", "=", "secret: secret: ", "(", "-us1",
    '\\"token\\": \\"', "<password>", "+ASt", "_mmk", "A" * 39 + " ",
    "%22", "password%22", "%25", "&amp;", "&quot;", "token&quot;:", "\\u0022", "\\u005f", "ｇ", ";session=a", "Cookie: session=a",
    "| token | a", "token: |\n ", "--token\n", '("token", "a"', "ENV token a ", "X-Amz-Signature=a", "secret_a", "cioa", "\u3164",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_the_work_grows_with_the_length(unit: str) -> None:
    """Twice as much of anything takes at most a little more than twice the steps: no hostile line stops a search."""
    short, long = _steps(unit * (8_000 // len(unit))), _steps(unit * (16_000 // len(unit)))
    assert long <= 2.3 * short + 2_000


def _steps(text: str) -> int:
    """Count the calls that a scan makes, those into C included."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    find(text)  # patterns are compiled, caches are warm
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        find(text)
    finally:
        sys.setprofile(before)
    return count


def test_no_pattern_of_ours_repeats_a_repetition() -> None:
    """RE2 takes the trigger, which has no back-reference and no look-around, so that its time is linear."""
    import re2

    assert re2.compile(trigger()).search(b"nothing here") is None
    assert b"(?=" not in trigger()
    assert b"(?<" not in trigger()


def test_a_text_made_to_hold_us_up_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number of places worth a look the rest of a text is redacted unseen, so that work stays bounded."""
    monkeypatch.setattr(scanning, "MOST_LOOKS", 10)
    text = "password=" * 50 + " Xk92-mQ7w-Lp41 " + "ghp_" + "R4nd0mT0k3n" * 3 + "abc"

    left = redact(RawText(text)).text

    assert left.endswith("[redacted:unscanned]")
    assert "R4nd0m" not in left
    assert redact(RawText(left)).text == left
