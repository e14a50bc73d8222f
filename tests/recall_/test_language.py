"""The query language end to end: what is found, by which words, and in which order."""

import json
from collections.abc import Iterator

import pytest
import worlds
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from logs import Value, call, entry, lines, message, talk
from worlds import World

from privacy.redaction import redact

SAID = (
    "The retry budget is three attempts.",
    "def getRetryBudgetFor(host): return retry_budget[host]",
    "Run chat-send with the .env file, C++17 and g++ -Wall -Werror.",
    "See 3GPP TS 38.101 and grammar::fa in ticket POL-358.",
    "cargo clippy -- --error-on-warnings",
    "步2 重跑gen-itgc后50条悬空引用清零, gen索引",
    "カタカナとひらがな、漢字混じり",
    "데이터베이스 색인을 다시 만들었다",
    "ภาษาไทยไม่มีช่องว่าง",
    "naïve café résumé, Ångström, cafe\u0301 re\u0301sume\u0301 decomposed",
    "use git to reset the DB, then 7z the rest; it's done, don't worry",
    'He said: "quote \\" inside" and C:\\tmp\\new\nnext line\tand a tab',
    "index a[0] and x->y, a+b, f(x), {json: true}, $HOME, ~/.config, #42, @user, 100%",
    "HTTPServerError parseHTTPHeader2 snake_case_name kebab-case-name",
    "emoji 😀 here and 👩‍👩‍👧 there",
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Give a world with one session that says all of the above, each in an entry of its own."""
    made = World(str(tmp_path_factory.mktemp("shop")))
    made.log("s", *talk(len(SAID), lambda number: SAID[number - 1]))
    made.values["historyTools.maxResults"] = 12
    made.update()
    yield made
    worlds._open_worlds.clear()
    made.check_logs()


def numbers(made: World, query: str) -> set[int]:
    """Give the numbers of the texts that a query finds."""
    answer = made.search(query)
    assert set(answer["warnings"]) <= {"query-has-no-searchable-terms"}, answer["warnings"]
    return {int(hit["entryId"], 16) for hit in answer["hits"]}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("budget", {1, 2}),
        ("Budget", {1, 2}),
        ("retry budget", {1, 2}),
        ("retry_budget", {1, 2}),
        ("RetryBudget", {1, 2}),
        ("getRetryBudgetFor", {2}),
        ('"retry budget"', {1}),
        ('"Retry budget"', set()),
        ('"retry_budget"', {2}),
        ("`RETRY_BUDGET`", {2}),
        ("`retry budget`", {1}),
        ("budget NOT attempts", {2}),
        ('budget NOT "three attempts"', {2}),
        ("attempts OR chat-send", {1, 3}),
        ("attempt*", {1}),
        ("snake*", {14}),
        ("chat-send", {3}),
        (".env", {3}),
        ("C++", {3, 12}),
        ("g++", {3}),
        ("-Wall", {3}),
        ("38.101", {4}),
        ("grammar::fa", {4}),
        ("POL-358", {4}),
        ("pol-358", {4}),
        ("358", {4}),
        ("--error-on-warnings", {5, 14}),
        ('"--error-on-warnings"', {5}),
        ("don't worry", {11}),
        ("don't", {11}),
        ("it's", {11}),
        ("worry?", {11}),
        ("git", {11}),
        ("DB", {11}),
        ("7z", {11}),
        ("悬空", {6}),
        ("空", {6}),
        ("悬空引用", {6}),
        ("引用清零", {6}),
        ("itgc", {6}),
        ("gen", {6}),
        ("gen索引", {6}),
        ("索引", {6}),
        ("引", {6}),
        ("50条", {6}),
        ("タカナ", {7}),
        ("ひらがな", {7}),
        ("漢字", {7}),
        ("字", {7}),
        ("데이터", {8}),
        ("색인", {8}),
        ("만들", {8}),
        ("ไทย", {9}),
        ("ช่อง", {9}),
        ("naive", {10}),
        ("naïve", {10}),
        ("NAÏVE", {10}),
        ("cafe", {10}),
        ("café", {10}),
        ("cafe\u0301", {10}),
        ("resume", {10}),
        ("angstrom", {10}),
        ('"C:\\tmp"', {12}),
        ("C:\\tmp\\new", {3, 12}),
        ('"\\tmp\\new\nnext"', {12}),
        ("`new\nnext line\tand`", {12}),
        ("`quote \\`", {12}),
        ("x->y", {13}),
        ("a[0]", {12, 13}),
        ("f(x)", {13}),
        ("{json:", {13}),
        ("$HOME", {13}),
        ("~/.config", {13}),
        ("#42", {13}),
        ("@user", {13}),
        ('"100%"', {13}),
        ('"->"', {13}),
        ('"%"', {13}),
        ("server", {14}),
        ("HTTP", {14}),
        ("header2", {14}),
        ("parseHTTPHeader2", {14}),
        ("case", {14}),
        ('"😀"', {15}),
        ("😀", {15}),
        ("😀 budget", {1, 2, 15}),
        ("`👩‍👩‍👧`", {15}),
        ("udge", {1, 2}),
        ("ebab-case-n", {14}),
        ("nothing_of_the_kind", set()),
    ],
)
def test_a_query_finds_what_its_words_say(shop: World, query: str, found: set[int]) -> None:
    """Words, parts, phrases, literals, short words and every script find the texts that hold them or some of their words."""
    assert numbers(shop, query) == found


@pytest.mark.parametrize(
    ("query", "first", "reasons"),
    [
        ("retry_budget", 2, ["all-words", "word"]),
        ("attempts budget", 1, ["all-words", "word"]),
        ("budget kebab unheard", 14, ["word"]),
        ("chat-send", 3, ["literal", "all-words"]),
        ("C++", 3, ["literal", "all-words"]),
        ("getRetryBudget", 2, ["all-words", "part"]),
        ("what does POL-358 say about the budget", 4, ["literal"]),
    ],
)
def test_hits_say_why_they_match(shop: World, query: str, first: int, reasons: list[str]) -> None:
    """The best hit comes first, and says whether it holds a literal, all words, a word, or a part of one."""
    hit = shop.search(query)["hits"][0]
    assert (int(hit["entryId"], 16), hit["matchReasons"]) == (first, reasons)


@pytest.mark.parametrize("query", ["...", "?!", "* ( )", "``", '""', "NOT foo", "-", "->", "()", "?!… ---", "«»"])
def test_a_query_without_a_term_says_so(shop: World, query: str) -> None:
    """Where nothing can be looked for the answer is partial and tells why, never a silent nothing."""
    answer = shop.search(query)
    assert (answer["status"], answer["coverage"], answer["hits"]) == ("partial", "unknown", [])
    assert answer["code"] == "query-has-no-searchable-terms"


@pytest.mark.parametrize("query", ["", "  \n", "x" * 2001, "😀" * 1001, None, 7, ["a"]])
def test_a_query_of_no_valid_length_is_refused(shop: World, query: object) -> None:
    """Empty text, more than 2000 characters and what is no text are refused by their code."""
    answer = shop.search(query)  # type: ignore[arg-type]
    assert (answer["status"], answer["code"], answer["hits"]) == ("unavailable", "invalid-query", [])


SYNTAX = [
    '"',
    "'",
    "`",
    "*",
    "(",
    ")",
    "NEAR(",
    "NEAR",
    "AND",
    "OR",
    "NOT",
    "-",
    "^",
    ":",
    "+",
    "{",
    "}",
    "text:",
    ",",
    "--",
]
PIECES = st.sampled_from(
    [*SYNTAX, "\x00", "\x1b", "\ud83d", "\udc00", "😀", "budget", "a" * 300, "\\", "\n", " ", "数", "é"]
)
QUERIES = st.lists(PIECES, min_size=1, max_size=40).map("".join) | st.text(
    st.characters(codec=None), min_size=1, max_size=200
)


@settings(max_examples=150)
@given(query=QUERIES)
def test_no_query_is_syntax_to_fts5(shop: World, query: str) -> None:
    """Whatever a person types, the answer is an answer: SQLite never sees it as anything but words."""
    answer = shop.search(query, scope="current-session")
    assert answer["status"] in ("complete", "partial") or answer["code"] == "invalid-query"
    assert set(answer["warnings"]) <= {"query-has-no-searchable-terms", "query-shortened", "invalid-query"}


@pytest.mark.parametrize(
    "piece", ['"', "a ", "a-", "a.", "数", "é ", "😀", "(", "NOT a ", "a OR ", '"a" ', "\ud83d", "\x00", "-"]
)
def test_two_thousand_characters_of_anything_are_answered(shop: World, piece: str) -> None:
    """The longest query that is allowed is answered like any other, whatever it is made of."""
    query = (piece * 2000)[: 2000 if piece != "😀" else 1000]
    answer = shop.search(query)
    assert answer["status"] in ("complete", "partial")
    assert set(answer["warnings"]) <= {"query-has-no-searchable-terms", "query-shortened"}


WORDS = st.sampled_from(
    ("budget", "retry", "chat-send", "itgc", "naive", "DB", "POL-358", "色", "unheard", "of", "xyzzy")
)


@settings(max_examples=60)
@given(
    words=st.lists(WORDS, min_size=1, max_size=12), known=st.sampled_from(("budget", "kebab", "git", "索引", "café"))
)
def test_never_nothing_while_one_word_matches(shop: World, words: list[str], known: str) -> None:
    """A question of many words finds what there is as long as one of them is there."""
    number = {"budget": 1, "kebab": 14, "git": 11, "索引": 6, "café": 10}[known]
    assert number in numbers(shop, " ".join([*words, known]))


TRICKY = st.text(
    st.sampled_from('ab Z9_-."\\/\n\t\r\x00\x1b\u2028éß数据ไ😀\ud83d:$[]{}') | st.characters(codec=None),
    min_size=1,
    max_size=40,
)


@settings(max_examples=150)
@given(texts=st.lists(TRICKY, min_size=1, max_size=4), at=st.integers(0, 3), data=st.data(), escaped=st.booleans())
def test_any_substring_of_a_session_is_found(texts: list[str], at: int, data: st.DataObject, escaped: bool) -> None:
    """A phrase of any characters finds what holds it and nothing else, however JSON writes it, wherever words begin."""
    text = redact(texts[at % len(texts)]).text  # type: ignore[arg-type]
    start = data.draw(st.integers(0, len(text) - 1))
    phrase = text[start : data.draw(st.integers(start + 1, len(text)))]
    assume('"' not in phrase and phrase.strip())
    with worlds.world() as made:
        made.log("s")
        values = [message(number, None, said) for number, said in enumerate(texts, 1)]
        raw = b"".join(json.dumps(value, ensure_ascii=True).replace("/", "\\/").encode() + b"\n" for value in values)
        made.append("s", raw if escaped else lines(*values))
        made.values["historyTools.maxResults"] = 12
        answer = made.search(f'"{phrase}"', scope="current-session")
        shown = {hit["entryId"] for hit in answer["hits"]} | {
            place["entryId"] for hit in answer["hits"] for place in hit.get("alsoIn", [])
        }
        holders = {f"{number:08x}" for number, said in enumerate(texts, 1) if phrase in redact(said).text}  # type: ignore[arg-type]
        assert shown
        assert shown <= holders
        assert answer["status"] == "complete"


def nested(number: int) -> Value:
    """Make a call whose arguments are written as lines of names and values."""
    return call(number, None, "edit_file", path="src/main.rs", options={"process": {"env": "PROD", "deep": [1, True]}})


@pytest.mark.parametrize(
    "query",
    [
        '"path: src/main.rs"',
        '"edit_file\npath: src"',
        ".env",
        '"process.env: PROD"',
        '"options.process.deep: true"',
        "deep:",
    ],
)
def test_text_that_the_line_holds_in_pieces_is_found(made: World, query: str) -> None:
    """Arguments of tools match as they are shown, also where the JSON of the line looks different."""
    made.log("s", nested(1), *talk(20, lambda number: f"env {number} path src process", start=2))
    assert made.found(query, scope="current-session")[0] == "00000001"


@pytest.mark.parametrize(
    ("query", "number"), [('"$ make te"', 1), ('"[image/png 3 B]"', 2), ('"first part\nsecond"', 3), ("`$ make`", 1)]
)
def test_marks_between_parts_are_found(made: World, query: str, number: int) -> None:
    """Prompts, notes of images and joints between parts match as they are shown."""
    blocks = [{"type": "text", "text": "first part"}, {"type": "text", "text": "second part"}]
    made.log(
        "s",
        entry("message", 1, None, message={"role": "bashExecution", "command": "make test", "output": "ok"}),
        message(2, 1, "", content=[{"type": "image", "mimeType": "image/png", "data": "AAAA"}]),
        message(3, 2, "", content=blocks),
    )
    assert made.found(query) == [f"{number:08x}"]
