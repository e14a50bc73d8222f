"""Parsed JSON behaves as it would in JavaScript: numbers, keys, truth, and the text that JSON.stringify writes."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.decoding import slow_parse
from sessions.javascript import MISSING, same_key, settled, stringify, to_number, to_string, truthy


@pytest.mark.parametrize(
    ("literal", "written"),
    [
        ("0", "0"), ("-0", "0"), ("-0.0", "0"), ("1.0", "1"), ("1e3", "1000"), ("2.50", "2.5"), ("0.1", "0.1"),
        ("9007199254740993", "9007199254740992"), ("-9007199254740993", "-9007199254740992"),
        ("12345678901234567890", "12345678901234567000"), ("123456789012345680000", "123456789012345680000"),
        ("1e20", "100000000000000000000"), ("1e21", "1e+21"), ("1.5e300", "1.5e+300"), ("0.000001", "0.000001"),
        ("0.0000015", "0.0000015"), ("1e-7", "1e-7"), ("1.5e-10", "1.5e-10"), ("5e-324", "5e-324"), ("1e400", "null"),
        ("-1e400", "null"), ("9" * 400, "null"), ("9" * 5000, "null"), ("1" * 30, "1.111111111111111e+29"),
        ("-1.25", "-1.25"), ("1e-400", "0"), ("4.35", "4.35"), ("0.30000000000000004", "0.30000000000000004"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_javascript_writes_them(literal: str, written: str) -> None:
    """A number of the log comes out as the double that it is to Pi."""
    assert stringify(settled(slow_parse(literal.encode()))) == written


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_keeps_its_value(number: float) -> None:
    """Settling and writing a double never changes it."""
    assert float(stringify(settled(number))) == number


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ('{"b":1,"a":2}', '{"b":1,"a":2}'),
        ('{"b":1,"10":2,"9":3,"a":4}', '{"9":3,"10":2,"b":1,"a":4}'),
        (
            '{"01":1,"1.5":2,"-1":3,"4294967295":4,"4294967294":5}',
            '{"4294967294":5,"01":1,"1.5":2,"-1":3,"4294967295":4}',
        ),
        ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
        ('{"__proto__":1}', '{"__proto__":1}'),
        ('{"٣":1,"0":2}', '{"0":2,"٣":1}'),
    ],
)
def test_keys_stand_in_the_order_that_javascript_keeps(source: str, written: str) -> None:
    """Integers come first in rising order, the others as they were first named."""
    assert stringify(settled(slow_parse(source.encode()))) == written


def test_text_is_written_with_javascripts_escapes() -> None:
    """Only quotes, backslashes, control characters and lone surrogates are escaped, as in Pi's own files."""
    text = '"\\/\b\f\n\r\t\x01\x7f\u2028é😀\ud83d'
    assert stringify(text) == '"\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\u2028é😀\\ud83d"'


def test_depth_is_no_obstacle() -> None:
    """Values nested deeper than Python recurses are settled and written."""
    raw = b'{"a":' * 4000 + b"[1.0]" + b"}" * 4000
    assert stringify(settled(slow_parse(raw))) == raw.decode().replace("1.0", "1")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("abc", max_size=3), inner),
    )
)
def test_ordinary_values_are_written_as_the_standard_library_writes_them(value: Any) -> None:
    """Where the two languages agree, so do the texts; and the copy is a copy."""
    assert stringify(settled(value)) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert settled(value) == value
    assert settled(value) is not value or not isinstance(value, list | dict)


@pytest.mark.parametrize("value", [1, -1, 0.5, "0", " ", [], {}, True, math.inf])
def test_true_in_javascript(value: object) -> None:
    """Empty lists and objects are true there, and so is the text 0."""
    assert truthy(value)


@pytest.mark.parametrize("value", [0, 0.0, -0.0, "", False, None, MISSING])
def test_false_in_javascript(value: object) -> None:
    """Only these are false."""
    assert not truthy(value)


def test_keys_are_equal_as_in_a_map() -> None:
    """One, true and the text 1 are three keys; 1 and 1.0 are one; objects are equal to nothing."""
    different = [1, True, "1", "true", False, 0, None, "null", MISSING, "undefined", "", 2**53]
    assert len({same_key(value) for value in different}) == len(different)
    assert same_key(1) == same_key(1.0)
    assert same_key(0) == same_key(-0.0)
    assert same_key(2**53) == same_key(2**53 + 1)
    assert same_key(10**400) == same_key(1e400)
    assert same_key([]) is same_key({}) is None


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (None, 0), (True, 1), (False, 0), (7, 7), (1.5, 1.5), ("", 0), (" \u00a0\n7\ufeff", 7), ("0x1F", 31),
        ("0o17", 15), ("-5", -5), ("+5.", 5), (".5", 0.5), ("1e3", 1000), ("Infinity", math.inf), ("0b11", 3),
        ("-Infinity", -math.inf), ([], 0), ([7], 7), (["7"], 7), ([None], 0), (10**400, math.inf), (["0x2"], 2),
    ],
)  # fmt: skip
def test_what_javascript_takes_for_a_number(value: object, number: float) -> None:
    """Texts and lists turn into numbers by JavaScript's rules."""
    assert to_number(value) == number


@pytest.mark.parametrize(
    "value", ["abc", "1_0", "1 2", "0x", "-0x1", "٣", "nan", "inf", "1e", ".", "e5", [1, 2], {}, [[], []], "1\x1c"]
)
def test_what_javascript_takes_for_no_number(value: object) -> None:
    """Python's wider notion of a number does not count."""
    assert math.isnan(to_number(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, None, "a", [2, True]], "1,,a,2,true"), ({}, "[object Object]"), (1.0, "1"), (1e21, "1e+21"),
        (None, "null"), (MISSING, "undefined"), (False, "false"), ([{}], "[object Object]"), (1e400, "Infinity"),
        (-1e400, "-Infinity"),
        ("x", "x"), ([], ""),
    ],
)  # fmt: skip
def test_what_javascript_makes_of_a_value_as_text(value: object, text: str) -> None:
    """Lists join, objects name themselves, numbers write themselves."""
    assert to_string(value) == text


def test_a_list_nested_without_end_is_no_number() -> None:
    """The depth of a hostile header does not matter."""
    value: Any = 3
    for _ in range(3000):
        value = [value]
    assert to_number(value) == 0
