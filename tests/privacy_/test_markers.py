r"""Inline markers: `[context:CLASS]…[/context:CLASS]`."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.settings import CLASSES
from privacy.classes import highest
from privacy.markers import classify


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("family", ["context", "ds4"])
def test_a_closed_span_demands_its_class(family: str, cls: str) -> None:
    """Each class can be demanded, by either name of the marker, the most open one too."""
    assert classify(f"a [{family}:{cls}]b[/{family}:{cls}] c") == cls


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no marker",
        "[context]",
        "[context:]",
        "[context:public]x[/context:public]",
        "[context:normally]x",
        "context:sensitive",
        "[kontext:sensitive]x[/kontext:sensitive]",
        "[contextsensitive]",
        "[ds4:secret]",
        "[ dS4:sensitive]",
        "[context:sensitiveſ]",
        "[context:local--only]",
        "[//context:sensitive]",
        "list[context:int]",
    ],
)
def test_what_is_no_marker_demands_nothing(text: str) -> None:
    """Unknown classes and near misses are plain text."""
    assert classify(text) is None


@pytest.mark.parametrize(
    "name", ["local-only", "local_only", "local only", "localonly", "LOCAL-ONLY", "Local_Only", "LocalOnly"]
)
def test_local_only_has_many_spellings(name: str) -> None:
    """However the strictest class is written, it is understood, and closes any other spelling of itself."""
    assert classify(f"[context:{name}]x[/context:local-only]") == "local-only"


@pytest.mark.parametrize("text", ["[CONTEXT:Sensitive]x[/Context:SENSITIVE]", "[Ds4:sensitive]x[/dS4:Sensitive]"])
def test_the_case_of_letters_does_not_matter(text: str) -> None:
    """Markers count in any letter case."""
    assert classify(text) == "sensitive"


@pytest.mark.parametrize(
    ("text", "cls"),
    [
        ("[context:internal]a[context:sensitive]b[/context:sensitive]c[/context:internal]", "sensitive"),
        ("[context:sensitive]a[/context:sensitive] [context:internal]b[/context:internal]", "sensitive"),
        ("[context:internal]a[context:normal]b[/context:normal][/context:internal]", "internal"),
        ("[context:internal]a[ds4:internal]b[/ds4:internal][/context:internal]", "internal"),
        ("[context:internal][/context:internal]", "internal"),
    ],
)
def test_the_highest_of_balanced_spans_counts(text: str, cls: str) -> None:
    """Nested and neighbouring spans demand the strictest of their classes."""
    assert classify(text) == cls


@pytest.mark.parametrize(
    "text",
    [
        "[context:normal]",
        "[/context:normal]",
        "[context:internal]x",
        "x[/context:internal]",
        "[context:internal]x[/context:sensitive]",
        "[context:internal]x[/ds4:internal]",
        "[context:internal]a[context:sensitive]b[/context:internal]c[/context:sensitive]",
        "[context:internal]a[/context:internal][/context:internal]",
        "[/context:internal]a[context:internal]",
        "[context:internal][context:internal]x[/context:internal]",
    ],
)
def test_what_does_not_close_in_order_demands_the_strictest(text: str) -> None:
    """Unbalanced and crossed markers fail closed."""
    assert classify(text) == "local-only"


@pytest.mark.parametrize(
    ("backslashes", "demanded"), [(0, "local-only"), (1, None), (2, "local-only"), (3, None), (4, "local-only")]
)
def test_an_odd_number_of_backslashes_escapes(backslashes: int, demanded: str | None) -> None:
    """A backslash makes a marker plain text unless it is itself escaped."""
    assert classify("x" + "\\" * backslashes + "[context:internal]") == demanded


def test_an_escaped_end_does_not_close() -> None:
    """An escaped closing marker is text, so its span stays open."""
    assert classify(r"[context:internal]x\[/context:internal]") == "local-only"
    assert classify(r"[context:internal]x\[/context:internal][/context:internal]") == "internal"


_SPANS = st.recursive(
    st.sampled_from(["", "text ", "[x] ", "context: ", "\\\\ "]).map(lambda text: (text, frozenset[str]())),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(("context", "ds4")), st.sampled_from(CLASSES), inner).map(
            lambda it: (f"[{it[0]}:{it[1]}]{it[2][0]}[/{it[0]}:{it[1]}]", it[2][1] | {it[1]})
        ),
        st.tuples(inner, inner).map(lambda two: (two[0][0] + two[1][0], two[0][1] | two[1][1])),
    ),
    max_leaves=12,
)


@given(_SPANS)
def test_any_nesting_demands_the_highest_class_in_it(spans: tuple[str, frozenset[str]]) -> None:
    """However spans are nested and lined up, the strictest class among them counts."""
    text, classes = spans
    assert classify(text) == (highest(*classes) if classes else None)


@given(_SPANS, st.sampled_from(CLASSES), st.booleans(), st.data())
def test_one_marker_too_many_demands_the_strictest(
    spans: tuple[str, frozenset[str]], cls: str, closing: bool, data: st.DataObject
) -> None:
    """A single marker without a partner, anywhere between complete spans, fails closed."""
    text = spans[0]
    at = data.draw(st.sampled_from([at for at in range(len(text) + 1) if text[:at].count("[") == text[:at].count("]")]))
    head = text[:at] if not text[:at].endswith("\\") else text[:at] + " "
    assert classify(f"{head}[{'/' if closing else ''}context:{cls}]{text[at:]}") == "local-only"


@given(st.text(alphabet="[]/\\:contexds4inrl-_ \n\ud800é", max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    """Any text, lone surrogates included, gets a class or none."""
    assert classify(text) in {None, *CLASSES}


@pytest.mark.parametrize(
    "unit", ["[", "\\", "\\[context:internal]", "[context:", "[context:internal]", "[/ds4:normal]", "[context:  "]
)
def test_the_work_grows_with_the_length(unit: str) -> None:
    """Twice as many brackets, backslashes or markers take at most twice the steps and a little more."""
    short, long = _steps(unit * 500), _steps(unit * 1000)
    assert long <= 2.2 * short + 100


def _steps(text: str) -> int:
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        classify(text)
    finally:
        sys.setprofile(before)
    return count
