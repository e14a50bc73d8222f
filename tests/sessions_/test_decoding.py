"""Lines become values as Pi reads them, by two parsers that agree, and damage is seen through where that is safe."""

import io
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from odd_sessions import NUMBERS, Maker

from sessions import nesting, text
from sessions.decoding import (
    JS_WHITE,
    TOO_DEEP,
    fast_parser,
    is_blank,
    is_padding,
    object_of,
    parser_for,
    salvaged,
    slow_parse,
)
from sessions.reading import records

FAST = fast_parser()
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


def outcome(parse: Any, raw: bytes) -> list[str]:
    """Give the value in tokens that tell types apart, however deep it is, or that there is none."""
    try:
        todo = [parse(raw)]
    except ValueError:
        return ["refused"]
    tokens = []
    while todo:
        value = todo.pop()
        if isinstance(value, dict | list):
            tokens.append(f"{type(value).__name__} {len(value)}")
            todo += [part for item in value.items() for part in item] if isinstance(value, dict) else value
        else:
            tokens.append(repr(value))
    return tokens


@given(st.integers(0, 10**9))
def test_both_parsers_give_the_same_values_and_text_for_lines_of_every_kind(seed: int) -> None:
    """A line means the same whichever parser reads it, damaged lines included."""
    for raw in Maker(seed).session().split(b"\n"):
        assert outcome(FAST, raw) == outcome(slow_parse, raw)
        if outcome(slow_parse, raw)[0].startswith("dict"):
            assert text.searchable(FAST(raw)) == text.searchable(slow_parse(raw))


@given(VALUES, st.data())
def test_both_parsers_agree_after_any_change_of_one_byte(value: Any, data: st.DataObject) -> None:
    """The two parsers accept and refuse the same bytes."""
    raw = bytearray(json.dumps(value, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "surrogatepass"))
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    assert outcome(FAST, bytes(raw)) == outcome(slow_parse, bytes(raw))


@pytest.mark.parametrize("number", NUMBERS)
def test_both_parsers_agree_on_numbers_at_the_edge(number: str) -> None:
    """No number is read differently or refused by one parser alone."""
    assert outcome(FAST, number.encode()) == outcome(slow_parse, number.encode()) != ["refused"]


@pytest.mark.parametrize(
    "raw", [b"NaN", b"[Infinity]", b"-Infinity", b"01", b"1.", b"+1", b"'a'", b'"\t"', b"[1,]", b'{"a":1,}', b"{}\x00"]
)
def test_what_javascript_refuses_is_refused(raw: bytes) -> None:
    """Python's leniency does not let a line in that Pi skips."""
    assert outcome(slow_parse, raw) == outcome(FAST, raw) == ["refused"]


def test_undecodable_bytes_become_the_replacement_character() -> None:
    """Bytes that are no UTF-8 do not cost the line; each maximal wrong part is one U+FFFD, as in Pi."""
    assert (
        slow_parse(b'"a\xff\xf0\x9f\x98b\xed\xa0\x80"')
        == FAST(b'"a\xff\xf0\x9f\x98b\xed\xa0\x80"')
        == "a\ufffd\ufffdb" + 3 * "\ufffd"
    )


def test_small_files_never_pay_for_the_fast_parser() -> None:
    """A live session of ordinary size is read without importing msgspec; an archive is not read slowly."""
    assert parser_for(100_000) is slow_parse
    assert parser_for(50_000_000) is not slow_parse


@given(
    st.lists(st.dictionaries(st.text(), SCALARS, max_size=3), min_size=2, max_size=5),
    st.sampled_from(["", "\0", " ", "\0\t\r "]),
)
def test_glued_objects_are_split_where_the_grammar_says(values: list[dict[str, Any]], gap: str) -> None:
    """Records that run together on one line come apart with exact spans, whatever brackets their texts hold."""
    raw = gap.join(json.dumps(value) for value in values).encode()
    mended, found = salvaged(raw)
    assert mended == "glued"
    assert [value for _, _, value in found] == values
    assert [slow_parse(raw[start : start + length]) for start, length, _ in found] == values


def test_glued_objects_with_undecodable_bytes_keep_their_byte_spans() -> None:
    """A span counts bytes of the file, not of the repaired text."""
    raw = b'\x00{"a":"\xff\xff"}\x00\x00{"b":"\xc3\xa9"}'
    mended, found = salvaged(raw)
    assert mended == "glued"
    assert [raw[start : start + length] for start, length, _ in found] == [b'{"a":"\xff\xff"}', b'{"b":"\xc3\xa9"}']
    assert found[0][2] == {"a": "\ufffd\ufffd"}


@pytest.mark.parametrize(
    ("raw", "mended"),
    [(b"\xef\xbb\xbf{}", "bom"), (b"\x00\x00{}", "padding"), (b"{}\x00 \r", "padding"), (b"\xef\xbb\xbf\x00{}", "bom")],
)
def test_padding_and_byte_order_marks_are_seen_through(raw: bytes, mended: str) -> None:
    """What a crash or an editor put around a record does not cost the record; its span is the whole line."""
    assert salvaged(raw) == (mended, [(0, len(raw), {})])


@pytest.mark.parametrize("raw", [b'{"a":1}5', b"{}{", b"{}x{}", b"\x007", b"{}" * 1001, b"x", b"[1][2]"])
def test_a_line_that_is_not_all_objects_is_refused_whole(raw: bytes) -> None:
    """Nothing is guessed out of a line that has any other part."""
    with pytest.raises(ValueError, match=r"."):
        salvaged(raw)


@pytest.mark.parametrize("white", [*JS_WHITE, "\0", " \u00a0\ufeff\u2028"])
def test_lines_of_javascript_white_space_are_blank(white: str) -> None:
    """A line that Pi trims to nothing is not damage."""
    assert is_blank(white.encode())


@pytest.mark.parametrize("raw", [b"\x1c", b"\x1f", b"\xc2\x85", b"\xff", b".", b"\xe2\x80\x8b"])
def test_what_only_python_calls_white_space_is_no_blank_line(raw: bytes) -> None:
    """Python's wider notion of white space hides no damage."""
    assert not is_blank(raw)
    assert not is_padding(raw)


@example([{"a": [{"b": []}]}])
@given(VALUES)
def test_the_parser_for_deep_lines_agrees_with_the_ordinary_one(value: Any) -> None:
    """Reading without recursion gives what the standard library gives."""
    for raw in (json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)):
        assert repr(nesting.parse(raw, json.JSONDecoder())) == repr(json.loads(raw))


@given(VALUES, st.data())
def test_the_parser_for_deep_lines_refuses_what_the_ordinary_one_refuses(value: Any, data: st.DataObject) -> None:
    """Reading without recursion is not more lenient, nor stricter."""
    raw = json.dumps([value])
    at = data.draw(st.integers(0, len(raw) - 1))
    raw = raw[:at] + data.draw(st.sampled_from(["", ",", "]", "}", ":", "[", "{", '"', "1", " ", "x"])) + raw[at + 1 :]
    assert outcome(lambda text: nesting.parse(text.decode(), json.JSONDecoder()), raw.encode()) == outcome(
        json.loads, raw.encode()
    )


def test_lines_nested_deeper_than_pythons_parsers_go_are_read() -> None:
    """A record that Pi reads is not lost for its depth, with either parser."""
    raw = b'{"a":' + b"[" * 4000 + b"7" + b"]" * 4000 + b',"b":1}'
    for parse in (slow_parse, FAST):
        inner, depth = parse(raw)["a"], 0
        while isinstance(inner, list):
            inner, depth = inner[0], depth + 1
        assert (inner, depth) == (7, 4000)


def test_lines_nested_beyond_all_use_are_refused_by_name() -> None:
    """An attack of brackets ends at a fixed depth with its own reason."""
    with pytest.raises(ValueError, match=TOO_DEEP):
        salvaged(b'{"a":' + b"[" * 5001 + b"]" * 5001 + b"}")


HOSTILE = {
    "thirty megabytes of opening brackets": b"[" * 30_000_000,
    "thirty megabytes of opening objects": b'{"a":' * 6_000_000,
    "a million empty objects": b"{}" * 1_000_000,
    "a million glued objects with gaps": b"{}\x00" * 1_000_000,
    "ten thousand long objects": b'{"a":"' + b"x" * 2000 + b'"}' * 10_000,
    "thirty megabytes of NULs, then text": b"\x00" * 30_000_000 + b"x",
    "thirty megabytes of quotes": b'"' * 30_000_000,
    "thirty megabytes of backslashes": b'"' + b"\\" * 30_000_000,
    "thirty megabytes of digits": b"9" * 30_000_000,
    "thirty megabytes of wrong bytes": b"\xff" * 30_000_000,
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_lines_are_refused_in_time_that_grows_with_their_length(raw: bytes) -> None:
    """No line makes reading quadratic: each of these would take hours if it did."""
    assert outcome(FAST, raw) in (["refused"], ["inf"])
    with pytest.raises(ValueError, match=r"."):
        salvaged(raw)


@given(st.integers(0, 10**9))
def test_the_object_of_a_record_can_be_read_again_from_its_bytes(seed: int) -> None:
    """Offset and length of a record lead to its value, also where the line was mended."""
    log = io.BytesIO(Maker(seed).session())
    for record in records(log):
        if record.value is not None:
            assert outcome(object_of, record.raw) == outcome(lambda _raw, value=record.value: value, b"")
