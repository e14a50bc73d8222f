"""How a query is read, term by term."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.query import LONGEST, Query, Term, parse

TEXTS = st.text(st.characters(codec=None), max_size=60) | st.lists(
    st.sampled_from(['"', "`", "OR", "NOT", "a", "b*", "*", "-x", "\x00", "\ud83d", "'", ".", '"c d"', "`e`", " "]),
    max_size=20,
).map("".join)


def word(text: str) -> Term:
    """Give the term that a plain word is."""
    return Term(text, "word")


def literal(text: str) -> Term:
    """Give the term that text with other characters in it is."""
    return Term(text, "literal")


@pytest.mark.parametrize(
    ("text", "groups", "excluded"),
    [
        ("retry budget", [[word("retry")], [word("budget")]], []),
        ("retry_budget RetryBudget", [[word("retry_budget")], [word("RetryBudget")]], []),
        ('"exact phrase"', [[Term("exact phrase", "literal", required=True, exact_case=True)]], []),
        ("`identifier`", [[Term("identifier", "literal", required=True)]], []),
        ("`two words`", [[Term("two words", "literal", required=True)]], []),
        ("foo NOT bar", [[word("foo")]], [word("bar")]),
        ('foo NOT "b a r"', [[word("foo")]], [Term("b a r", "literal", required=True, exact_case=True)]),
        ("foo OR bar", [[word("foo"), word("bar")]], []),
        ("foo OR bar baz", [[word("foo"), word("bar")], [word("baz")]], []),
        ("pre*", [[Term("pre", "prefix")]], []),
        ("chat-send", [[literal("chat-send")]], []),
        (".env", [[literal(".env")]], []),
        ("C++", [[literal("C++")]], []),
        ("38.101", [[literal("38.101")]], []),
        ("a::b", [[literal("a::b")]], []),
        ("-Wall", [[literal("-Wall")]], []),
        ("POL-358", [[literal("POL-358")]], []),
        ("--error-on-warnings", [[literal("--error-on-warnings")]], []),
        ('"--error-on-warnings"', [[Term("--error-on-warnings", "literal", required=True, exact_case=True)]], []),
        ("don't", [[word("don't")]], []),
        ("don\u2019t", [[word("don\u2019t")]], []),
        ("why?", [[word("why")]], []),
        ("this, that; and: so.", [[word("this")], [word("that")], [word("and")], [word("so")]], []),
        ("what?!", [[word("what")]], []),
        ("索引", [[word("索引")]], []),
        ("e\u0301te\u0301", [[word("e\u0301te\u0301")]], []),
        ("not or and near", [[word("not")], [word("or")], [word("and")], [word("near")]], []),
        ("AND NEAR", [[word("AND")], [word("NEAR")]], []),
        ("OR foo", [[word("OR")], [word("foo")]], []),
        ("foo OR", [[word("foo")], [word("OR")]], []),
        ("foo NOT", [[word("foo")], [word("NOT")]], []),
        ("foo foo Foo", [[word("foo")]], []),
        ("foo*bar", [[literal("foo*bar")]], []),
        ("*", [[literal("*")]], []),
        ('"', [[literal('"')]], []),
        ('""', [], []),
        ("``", [], []),
        ('say "unbalanced', [[word("say")], [literal('"unbalanced')]], []),
        ('"a"b', [[literal('"a"b')]], []),
        ("NEAR(a b)", [[literal("NEAR(a")], [literal("b)")]], []),
        ("col:value", [[literal("col:value")]], []),
        ("...", [], []),
    ],
)
def test_a_query_reads_as_its_language_says(text: str, groups: list[list[Term]], excluded: list[Term]) -> None:
    """Each piece of a query is the kind of term that the query language makes of it, and nothing else is syntax."""
    assert parse(text) == Query(tuple(map(tuple, groups)), tuple(excluded))


@given(text=TEXTS)
def test_any_text_is_a_query(text: str) -> None:
    """Parsing never fails, and every term is text that somebody wrote."""
    query = parse(text)
    for term in (*query.terms, *query.excluded):
        assert term.text
        assert term.text in text
        assert term.kind in ("word", "prefix", "literal")
        assert term.kind == "literal" or not term.required


@given(text=TEXTS)
def test_literals_as_words_are_words(text: str) -> None:
    """With literal retrieval off no term is literal, and every word of the query is still wanted."""
    query = parse(text).as_words()
    assert all(term.kind in ("word", "prefix") for term in query.terms)


def test_a_very_long_query_keeps_its_literals_and_its_longest_words() -> None:
    """Of more than 32 terms the literal ones and the longest are kept, and the query says that it was shortened."""
    text = " ".join([f"w{number}" for number in range(60)] + ["the-literal", "a_rather_long_word"])
    assert len(text) < LONGEST
    query = parse(text)
    assert query.shortened
    assert len(query.groups) == 32
    assert {literal("the-literal"), word("a_rather_long_word")} <= set(query.terms)
    assert not parse("a few words").shortened
