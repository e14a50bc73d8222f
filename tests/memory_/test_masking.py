"""Names are masked as whole folded words, in any script, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remembering import digest

from memory.masking import Hashed, Names, measured, prepared
from memory.names import key

CASES = [
    ("Acme Rocket", "the acme  ROCKET flies", "the [removed] flies"),
    (
        "Acme Rocket",
        "acme\nrocket, acme-rocket, acmerocket, Acme Rockets",
        "[removed], acme-rocket, acmerocket, Acme Rockets",
    ),
    ("Walgreens", "Walgreens, Inc. and walgreensx", "[removed], Inc. and walgreensx"),
    ("C++", "we use C++ and C++11 in c++.", "we use [removed] and C++11 in [removed]."),
    ("Node.js", "node.js nodeXjs (Node.js)", "[removed] nodeXjs ([removed])"),
    ("O'Reilly", "ask O'Reilly", "ask [removed]"),
    (".NET", "on .NET here; a.net", "on [removed] here; a.net"),
    ("Café Nord", "Cafe\u0301 nord, CAFÉ NORD, Cafe Nord", "[removed], [removed], Cafe Nord"),
    ("索引社", "これは索引社です", "これは[removed]です"),
    ("Straße", "in der STRASSE", "in der [removed]"),
    ("Ωmega", "ωMEGA", "[removed]"),
    ("ﬁne Co", "FINE co", "[removed]"),
    ("Zoë", "Zoë Zoe\u0308 zoe", "[removed] [removed] zoe"),
]


@pytest.mark.parametrize(("name", "text", "masked"), CASES)
def test_a_name_is_masked(name: str, text: str, masked: str) -> None:
    """Whatever its case, its spaces and how its accents are composed; what only looks like it stays."""
    assert Names(prepared({key(name): False})).masked(text)[0] == masked


@pytest.mark.parametrize(("name", "text", "masked"), [case for case in CASES if case[0] not in (".NET", "C++")])
def test_a_name_that_was_deleted_is_masked_alike(name: str, text: str, masked: str) -> None:
    """Known by its digest alone, by the same rule."""
    words, characters = measured(key(name))
    names = Names(prepared({}, [Hashed(digest(key(name)).digest, words, characters)]), lambda said: digest(said).digest)
    assert names.masked(text)[0] == masked


def test_a_deleted_name_with_marks_is_masked() -> None:
    """Where marks belong to a name."""
    for name, text, masked in (
        ("C++", "in c++, here", "in [removed], here"),
        (".NET", "on .NET here", "on [removed] here"),
    ):
        words, characters = measured(key(name))
        names = Names(
            prepared({}, [Hashed(digest(key(name)).digest, words, characters)]), lambda said: digest(said).digest
        )
        assert names.masked(text)[0] == masked


def test_within_identifiers_only_where_that_was_asked_for() -> None:
    """`--in-parts` hides a name in `acmeClient` and `get_acme` too."""
    assert Names(prepared({"acme": False})).masked("acmeClient get_acme acme")[0] == "acmeClient get_acme [removed]"
    assert (
        Names(prepared({"acme": True})).masked("acmeClient get_acme acme")[0]
        == "[removed]Client get_[removed] [removed]"
    )


@given(st.text(max_size=60), st.text(min_size=1, max_size=12))
def test_masking_twice_changes_nothing(text: str, name: str) -> None:
    """And what is masked does not hold the name any more."""
    folded = key(name)
    if not any(char.isalnum() for char in folded) or folded in "[removed]":
        return
    names = Names(prepared({folded: False}))
    once, count = names.masked(text)
    assert names.masked(once) == (once, 0)
    assert (count > 0) == (once != text)


@given(st.lists(st.sampled_from(["acme", "rocket", "bolt", "é", " ", "-", "\n"]), max_size=30))
def test_all_else_stays_as_it_is(pieces: list[str]) -> None:
    """What is not masked is byte for byte what it was."""
    text = "".join(pieces)
    names = Names(prepared({"acme rocket": False, "bolt": False}))
    at, kept = 0, []
    for start, end in names.spans(text):
        kept.append(text[at:start])
        at = end
    assert names.masked(text)[0] == "[removed]".join([*kept, text[at:]])
