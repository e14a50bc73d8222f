"""One way to write JSON, to count text and tokens: answers, hashes and budgets agree on the same characters."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.canonical import dumps, escape_surrogates, pretty, tokens, utf16_units

ANY_TEXT = st.text(st.characters(codec=None))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


def joined(text: str) -> str:
    """Give the text as JSON reads it back: a high and a low surrogate side by side are one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(JSON)
def test_what_is_written_is_utf8_and_reads_back(value: Any) -> None:
    """Every value can be encoded, in both forms, and comes back the same."""
    for text in (dumps(value), pretty(value)):
        text.encode()
        assert json.loads(text) == json.loads(json.dumps(value))
    assert "\n" not in dumps(value)
    assert pretty(value).endswith("\n")


def test_compact_json_has_no_spaces_and_raw_letters() -> None:
    """Letters of every script stand as they are; only control characters and lone surrogates are escaped."""
    assert dumps({"a": [1, None, True], "é": "索\u2028\x7f\x01\n😀\ud800"}) == (
        '{"a":[1,null,true],"é":"索\u2028\\u007f\\u0001\\n😀\\ud800"}'
    )


def test_json_for_people_is_indented_and_ends_in_one_newline() -> None:
    """A settings file is made for an editor."""
    assert pretty({"a": ["é"]}) == '{\n  "a": [\n    "é"\n  ]\n}\n'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_hold_is_refused(number: float) -> None:
    """Numbers that other readers would choke on are never written."""
    for write in (dumps, pretty):
        with pytest.raises(ValueError, match="JSON"):
            write([number])


@given(ANY_TEXT)
def test_only_lone_surrogates_are_escaped(text: str) -> None:
    """Text without them is the very same; with them it can be encoded."""
    escaped = escape_surrogates(text)
    escaped.encode()
    assert (escaped == text) == (not any("\ud800" <= letter <= "\udfff" for letter in text))


@given(ANY_TEXT)
def test_length_is_counted_as_javascript_counts_it(text: str) -> None:
    """A character beyond the basic plane counts twice, a lone surrogate once."""
    assert utf16_units(text) == sum(2 if ord(letter) > 0xFFFF else 1 for letter in text)


@pytest.mark.parametrize(("text", "count"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("😀😀", 1), ("é" * 9, 3)])
def test_tokens_are_a_quarter_of_the_length_rounded_up(text: str, count: int) -> None:
    """The estimate `chars-v1` is never below a quarter."""
    assert tokens(text) == count


def test_surrogates_side_by_side_are_one_character_to_a_reader() -> None:
    """The escape of each half reads back as the whole."""
    assert json.loads(dumps("\ud83d\ude00")) == joined("\ud83d\ude00") == "😀"
