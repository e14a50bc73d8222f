"""Something invisible, or a line break, inside a key saves no part of it."""

import random
from collections.abc import Callable

import pytest

from foundation.texts import RawText
from privacy.redaction import redact
from privacy.secrets.detectors import detectors
from privacy.secrets.examples import made

INVISIBLE = {
    "colour": "\x1b[1;31m",
    "reset": "\x1b[0m",
    "link": "\x1b]8;;https://example.com\x1b\\",
    "NUL": "\0",
    "backspace": "\b",
    "delete": "\x7f",
    "zero-width space": "\u200b",
    "zero-width non-joiner": "\u200c",
    "zero-width joiner": "\u200d",
    "right-to-left mark": "\u200f",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\xad",
    "variation selector": "\ufe0f",
    "tag": "\U000e0041",
    "Hangul filler": "\u3164",
    "Hangul choseong filler": "\u115f",
    "Hangul jungseong filler": "\u1160",
    "half-width Hangul filler": "\uffa0",
    "blank Braille": "\u2800",
    "object replacement": "\ufffc",
    "Khmer vowel": "\u17b4",
    "musical beam": "\U0001d173",
}
BREAKS = {
    "LF": "\n",
    "CRLF": "\r\n",
    "LF and indent": "\n    ",
    "CRLF and tab": "\r\n\t",
    "backslash": "\\\n",
    "backslash and indent": "\\\n  ",
}
# Keys of known form; a person's password does not look like one once it is cut in two.
_MADE_UP_BY_PEOPLE = ("password", "netrc-password", "pgpass-password", "url-password", "webhook-url")
KEYS = [
    (detector.kind, template)
    for detector in detectors()
    for template in detector.examples
    if detector.kind not in _MADE_UP_BY_PEOPLE and template.count("«") == 1 and "\n" not in made(template).text
]
COMMON = [
    ("github-token", "ghp_{an:36}"),
    ("github-token", "github_pat_{an:22}_{an:59}"),
    ("gitlab-token", "glpat-{url:20}"),
    ("openai-key", "sk-proj-{an:48}"),
    ("anthropic-key", "sk-ant-api03-{url:93}AA"),
    ("aws-access-key-id", "AKIA{b32:16}"),
    ("google-api-key", "AIza{url:35}"),
    ("slack-token", "xoxb-{dec:12}-{dec:12}-{an:24}"),
    ("stripe-key", "sk_live_{an:24}"),
    ("npm-token", "npm_{an:36}"),
    ("huggingface-token", "hf_{al:34}"),
    ("sendgrid-key", "SG.{url:22}.{url:43}"),
    ("jwt", "{jwt}"),
]


def _split(key: str, at: int, splitter: str) -> str:
    return key[:at] + splitter + key[at:]


@pytest.mark.parametrize(("kind", "template"), KEYS)
def test_something_invisible_in_a_key_saves_no_part_of_it(kind: str, template: str, leak: Callable[..., str]) -> None:
    """Whatever the eye does not see, at a random place in any key, the whole key with its tail is one find."""
    example = made(template)
    ((start, end),) = example.spans
    around = example.text[:start] + "\n" + example.text[end:]
    for name, splitter in INVISIBLE.items():
        at = random.Random(f"{template}{name}").randint(start + 1, end - 1)
        redacted = redact(RawText(_split(example.text, at, splitter)))
        assert leak(example.text[start:end], redacted.text, around) == "", f"{kind} with {name} at {at}"
        assert splitter not in redacted.text
        assert redacted.count >= 1


@pytest.mark.parametrize("splitter", BREAKS.values(), ids=BREAKS)
@pytest.mark.parametrize(("kind", "template"), COMMON)
def test_a_line_break_in_a_common_key_saves_no_part_of_it(
    kind: str, template: str, splitter: str, leak: Callable[..., str]
) -> None:
    """A break at any place, the prefix included, costs nothing; at most one cut of a whole key in twenty slips."""
    key = made(template).text
    slipped = [
        at
        for at in range(1, len(key))
        if leak(key, redact(RawText(f"before\n{_split(key, at, splitter)}\nafter it come words\n")).text)
    ]
    assert len(slipped) <= len(key) // 20, kind


def _slips(contexts: dict[str, Callable[[str], str]], leak: Callable[..., str], *, rounds: int, seed: str) -> list[str]:
    """Give the texts out of so many random ones that still show part of their key."""
    chance = random.Random(seed)
    splitters = [*INVISIBLE.values(), *BREAKS.values()]
    splitters.remove("\b")  # JSON writes it as `\\b`, which is a word's edge in every other regular expression
    slipped = []
    for _ in range(rounds):
        zeros = "0" * chance.randint(0, 9)  # other digits before a count make another key of the same form
        key = made(chance.choice(COMMON)[1].replace(":", f":{zeros}")).text
        put = chance.choice(list(contexts.values()))
        text = put(f"see {_split(key, chance.randint(1, len(key) - 1), chance.choice(splitters))} there")
        if leak(key, redact(RawText(text)).text):
            slipped.append(text)
    return slipped


def test_splitters_at_random_places_in_random_contexts(
    contexts: dict[str, Callable[[str], str]], leak: Callable[..., str]
) -> None:
    """Of many keys, splitters, places and contexts, at most one in fifty leaves six characters."""
    slipped = _slips(contexts, leak, rounds=2_000, seed="splitters")
    assert len(slipped) <= 40, slipped


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_splitters_at_very_many_random_places(
    seed: int, contexts: dict[str, Callable[[str], str]], leak: Callable[..., str]
) -> None:
    """Of very many, whatever the chance, hardly more than one in a hundred does."""
    slipped = _slips(contexts, leak, rounds=10_000, seed=f"slow {seed}")
    assert len(slipped) <= 150, slipped


@pytest.mark.parametrize("splitter", BREAKS.values(), ids=BREAKS)
@pytest.mark.parametrize(
    "next_line", ["Now some words follow.", "NEXT_NAME=value", "commit 1234567", "- item", "}", "", "123"]
)
def test_a_whole_key_at_the_end_of_a_line_takes_nothing_from_the_next(splitter: str, next_line: str) -> None:
    """A key of known length ends with its line, and words or names on the next line stay."""
    for template in ("ghp_{an:36}", "AKIA{b32:16}", "sk-proj-{an:48}", "sk-ant-api03-{url:93}AA", "npm_{an:36}"):
        text = made(template).text + splitter + next_line
        assert redact(RawText(text)).text.endswith("]" + splitter + next_line)


def test_what_completes_a_key_belongs_to_it_even_if_it_is_a_word() -> None:
    """Chance writes words too: a piece that makes the key exactly as long as such keys are is its end."""
    text = made("ghp_{an:30}").text + "\nchange\nthis"
    assert redact(RawText(text)).text == "[redacted:github-token]\nthis"


def test_a_name_on_the_next_line_is_no_part_of_the_key() -> None:
    """What has a value of its own is a name, however odd it looks."""
    for name in ("X7qZ9kP2w=1", "Zq8Kd3Lp: x", "k9Qx7Zt2 = y", "wX3kQz9P(1)"):
        text = made("sk-proj-{an:60}").text + f"\n{name}"
        assert redact(RawText(text)).text == f"[redacted:openai-key]\n{name}"


def test_a_key_that_is_wrapped_many_times_is_one_find(leak: Callable[..., str]) -> None:
    """A long key in a narrow window goes over many lines, and none of them stays."""
    for template in ("sk-ant-api03-{url:93}AA", "github_pat_{an:22}_{an:59}", "{jwt}", "AccountKey={b64:86}=="):
        key = made(template).text
        wrapped = "\n   ".join(key[at : at + 24] for at in range(0, len(key), 24))
        redacted = redact(RawText(f"  {wrapped}\n  and that is it\n"))
        assert redacted.count == 1
        assert leak(key.removeprefix("AccountKey="), redacted.text) == ""
        assert redacted.text.endswith("and that is it\n")


@pytest.mark.parametrize("sign", ["+", "-", "> ", "| "])
def test_a_wrapped_key_in_a_diff_or_quotation_is_one_find(sign: str, leak: Callable[..., str]) -> None:
    """The sign that each line starts with belongs to the break."""
    key = made("ghp_{an:36}").text
    redacted = redact(RawText(f"{sign}{key[:25]}\n{sign}{key[25:]}\n{sign}more\n"))
    assert leak(key, redacted.text) == ""
    assert redacted.text.endswith(f"\n{sign}more\n")


def test_escaped_splitters_are_splitters_too(leak: Callable[..., str]) -> None:
    r"""In JSON a colour reads `\u001b[0m`, and a zero-width space `\u200b`; they save nothing either."""
    key = made("ghp_{an:36}").text
    for splitter in (
        r"\u001b[0m",
        r"\u200b",
        r"\\u200b",
        r"\x1b[31m",
        r"\033[1m",
        r"\ufeff",
        r"\u3164",
        r"\u2800",
        r"\uFFFC",
        r"\\uffa0",
        r"\u0000",
        r"\n",
        r"\r\n",
        r"\\n    ",
    ):
        assert leak(key, redact(RawText('{"text":"x ' + _split(key, 20, splitter) + '"}')).text) == "", splitter
