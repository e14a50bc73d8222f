"""A hit matches in the text that its audience sees: what was redacted or is not for it finds nothing, by no syntax."""

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import Value, about, call, entry, message, talk
from worlds import World

from foundation.canonical import dumps
from privacy.audiences import LOCAL
from privacy.redaction import redact
from privacy.secrets.examples import made as made_secret

KINDS = (
    "AWS_SECRET_ACCESS_KEY={b64:40}",
    "token ghp_{an:36} end",
    "postgres://app:{an:18}@db.example/x",
    "Authorization: Bearer {an:40}",
    "xoxb-{dec:12}-{dec:12}-{an:24}",
    "{jwt:x}",
)
SECRETS = [made_secret(template).text for template in KINDS]
OTHERS = [made_secret(f"x {template}").text[2:] for template in KINDS]
"""The same, but for the characters of each secret."""


def hidden_parts(text: str) -> list[str]:
    """Give the pieces of a text that redaction takes out."""
    shown = redact(text).text  # type: ignore[arg-type]
    kept = re.split(r"\[redacted:[^\]]*\]", shown)
    parts, at = [], 0
    for before, after in pairwise(kept):
        start = text.index(before, at) + len(before)
        end = text.index(after, start) if after else len(text)
        parts.append(text[start:end])
        at = end
    return parts


HIDDEN = [(text, part) for text in SECRETS for part in hidden_parts(text)]


def secretive(made: World, secrets: list[str]) -> None:
    """Write a log with secrets in every place that is searched, and a few harmless entries around them."""
    entries: list[Value] = []
    for number, text in enumerate(secrets, 1):
        at = number * 10
        entries += [
            message(at, None, f"the harmless beginning {text} and the end of it", "toolResult"),
            call(at + 1, None, "bash", command=f"echo {text}"),
            message(at + 2, None, f"say {text}"),
            entry("message", at + 3, None, message={"role": "bashExecution", "command": "env", "output": text}),
        ]
    made.log("s", *entries, *talk(5, about("nothing here"), start=900))
    made.values["historyTools.maxResults"] = 12


def queries_for(text: str, secret: str) -> st.SearchStrategy[str]:
    """Give queries that would find a secret, if anything could: itself, parts of it, and what stands around it."""
    size = len(secret)
    ends = st.tuples(st.integers(0, size - 2), st.integers(2, size))
    part = ends.map(lambda span: secret[span[0] : span[0] + span[1]])
    half = text.index(secret) + size // 2
    around = st.sampled_from((text, secret, text[:half], text[half:], f"beginning {text} and", f"command: echo {text}"))
    shapes = (
        "{}", '"{}"', "`{}`", "{}*", "harmless OR {}", '"{}" harmless', "harmless NOT {}", 'harmless NOT "{}"', "'{}'",
        "({})", "-{}", "{} {}", "NOT {} harmless say",
    )  # fmt: skip
    return st.builds(lambda shape, words: shape.replace("{}", words), st.sampled_from(shapes), part | around)


@pytest.fixture(scope="module", params=["index", "log"])
def twins(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, World]:
    """Give two worlds that differ in their secrets alone."""
    both = []
    for secrets in (SECRETS, OTHERS):
        made = World(str(tmp_path_factory.mktemp("twin")))
        secretive(made, secrets)
        if request.param == "log":
            made.without_index()
        both.append(made)
    assert [redact(text).text for text in SECRETS] == [redact(text).text for text in OTHERS]  # type: ignore[arg-type]
    return both[0], both[1]


@settings(max_examples=150)
@given(data=st.data(), which=st.sampled_from(HIDDEN))
def test_a_secret_makes_no_difference_to_any_answer(
    twins: tuple[World, World], data: st.DataObject, which: tuple[str, str]
) -> None:
    """No query shaped from a secret is answered otherwise than in a world with another secret in its place."""
    query = data.draw(queries_for(*which))
    mine, other = (made.search(query, scope="current-session") for made in twins)
    same_but_places(mine, other)
    assert_no_secret(mine)


def test_no_answer_shows_a_secret(twins: tuple[World, World]) -> None:
    """Excerpts of every length and reads of every entry show no six characters of a secret."""
    made, _ = twins
    for budget in (256, 300, 500, 900, 3000, 6000):
        for query in ("harmless", "say", "echo", "env", "beginning end", "token", "example"):
            answer = made.search(query, scope="current-session", max_output_tokens=budget)
            assert answer["hits"], query
            assert_no_secret(answer)
            for hit in answer["hits"]:
                read = made.read(hit["sourceRef"])
                assert read["redactions"] == hit["redactions"] > 0
                assert_no_secret(read | {"sha256": ""})


def assert_no_secret(answer: dict[str, Any]) -> None:
    """Hold that an answer shows no six characters in a row of any secret."""
    shown = dumps(answer)
    for _, secret in HIDDEN:
        for start in range(len(secret) - 5):
            assert secret[start : start + 6] not in shown, (secret, shown)


@pytest.mark.parametrize(("text", "secret"), HIDDEN)
@pytest.mark.parametrize("shape", ["{}", '"{}"', "`{}`", "{}*"])
def test_a_whole_secret_finds_nothing(made: World, text: str, secret: str, shape: str) -> None:
    """The secret itself, quoted or not, finds no entry, and the answer is the same as one about nothing at all."""
    made.log("s", message(1, None, f"begin {text} end"), message(2, 1, "something else"))
    made.update()
    core = max(re.findall(r"\w+", secret), key=len)
    answer = made.search(shape.format(core))
    nothing = made.search(shape.format("n" * len(core)))
    assert answer == nothing
    assert answer["hits"] == []


@pytest.mark.parametrize("query", ["{0}/{1}", "{0}/{1} harmless", "say {0}/{1} words", '"{0} {1}" {0}/{1}'])
def test_a_line_whose_secret_holds_a_literal_is_ranked_like_any_other(tmp_path: Any, query: str) -> None:
    """That a raw line holds what its visible text does not moves no hit and changes no score."""
    first, second = "epeymiQ", "lpj5PBK"
    answers = []
    for name, glue in (("with", "/"), ("without", "x")):
        secret = f"AWS_SECRET_ACCESS_KEY={first}{glue}{second}+xikrA8MUg9zVbur+bohUfbtS"
        assert redact(secret).count == 1  # type: ignore[arg-type]
        (tmp_path / name).mkdir()
        made = World(str(tmp_path / name))
        made.log(
            "s",
            message(1, None, f"{first} {second} harmless words {secret}"),
            message(5000, 1, f"{first} {second} and {first} {second} say"),
            *talk(4, about(f"{first}"), start=6000, parent=5000),
            message(7000, 6003, f"{first}/{second} say"),
        )
        answers.append(made.search(query.format(first, second)))
    same_but_places(*answers)
    assert answers[0]["hits"]


def test_entries_that_are_not_for_an_audience_take_no_place_in_any_cap(
    made: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many newer entries match that an audience may not see, the one that it may see is found, completely."""
    monkeypatch.setattr("recall.candidates.CAP", 10)
    hidden = [message(number, number - 1, "[context:sensitive]okapi[/context:sensitive]") for number in range(2, 40)]
    made.log("s", message(1, None, "okapi"), *hidden)
    made.remote()
    answer = made.search("okapi")
    assert ([hit["entryId"] for hit in answer["hits"]], answer["warnings"]) == (["00000001"], [])


def test_a_phrase_across_a_secret_does_not_find_it(made: World) -> None:
    """Words before and after a secret with the secret between them are no phrase that is there."""
    text, secret = HIDDEN[1]
    made.log("s", message(1, None, f"take {text} home"))
    assert made.found(f'"take {text} home"') == []
    assert made.found('"take token [redacted:"') == ["00000001"]
    assert made.search("home")["hits"][0]["redactions"] == 1
    assert secret not in dumps(made.search("home"))


def test_reveal_shows_the_owner_what_is_there(made: World) -> None:
    """With `reveal` the owner sees secrets as they are, counted; the index still does not know them."""
    text, secret = HIDDEN[1]
    made.log("s", message(1, None, f"take {text} home"))
    made.reveal = True
    hit = made.search("home")["hits"][0]
    assert secret in hit["excerpt"]
    assert hit["redactions"] == 1
    assert made.found(f'"{secret}"') == ["00000001"]
    made.reveal = False
    assert made.found(f'"{secret}"') == []


MARKED = (
    ("[context:sensitive]the quagga[/context:sensitive]", "user"),
    ("[context:local-only]a quagga[/context:local-only]", "user"),
    ("[ds4:sensitive]my quagga[/ds4:sensitive]", "user"),
    ("[context:sensitive]unbalanced quagga", "user"),
)


def pair(tmp: Any, *, scope_log: str = "s") -> tuple[World, World]:
    """Give two worlds, alike but for the entries that are not for a remote audience, which the second lacks."""
    both = []
    for name in ("with", "without"):
        root = tmp / name
        root.mkdir()
        made = World(str(root))
        plain = [message(number, None, f"okapi number {number} in the herd") for number in range(100, 130)]
        marked = [message(number, None, text, role) for number, (text, role) in enumerate(MARKED, 1)]
        marked += [message(40, None, "[context:sensitive]okapi okapi okapi[/context:sensitive] herd")]
        marked += [entry("custom_message", 41, None, customType="x", content=MARKED[0][0], display=True)]
        tip = message(900, None, "the leaf")
        made.log(scope_log, *plain[:15], *(marked if name == "with" else []), *plain[15:], tip)
        made.values["historyTools.maxResults"] = 12
        made.remote()
        both.append(made)
    return both[0], both[1]


def same_but_places(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Hold two answers equal but for their references."""
    for answer in (one, other):
        for hit in answer["hits"]:
            hit["sourceRef"] = ""
    assert one == other


@pytest.mark.parametrize("scope", ["current-session", "project"])
@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
@pytest.mark.parametrize(
    "query",
    ["quagga", '"quagga"', "quag*", "uagg", "okapi", "herd", "okapi quagga", "NOT quagga okapi", "`the quagga`", "xyz"],
)
def test_what_is_not_for_an_audience_might_as_well_not_exist(
    tmp_path: Any, query: str, indexed: bool, scope: str
) -> None:
    """A remote answer is the same, hit, count and warning, with the marked entries or without."""
    some, none = pair(tmp_path)
    for made in (some, none):
        made.values["historyTools.allowProjectScope"] = True
        if not indexed:
            made.without_index()
    same_but_places(some.search(query, scope=scope), none.search(query, scope=scope))


def test_the_owner_finds_what_is_marked(tmp_path: Any) -> None:
    """A local audience finds every class, and each hit says which."""
    made, _ = pair(tmp_path)
    made.audience = LOCAL
    answer = made.search("quagga", scope="current-session")
    assert [hit["classification"] for hit in answer["hits"]] != []
    assert {hit["classification"] for hit in answer["hits"]} == {"sensitive", "local-only"}


def test_scores_are_for_the_owner(made: World) -> None:
    """A remote answer has no scores; a local one has."""
    made.log("s", message(1, None, "okapi"))
    assert "score" in made.search("okapi")["hits"][0]
    made.remote()
    assert "score" not in made.search("okapi")["hits"][0]


@pytest.mark.parametrize(
    ("default", "seen"), [("normal", True), ("internal", True), ("sensitive", False), ("local-only", False)]
)
def test_the_default_class_counts_for_all_entries(made: World, default: str, seen: bool) -> None:
    """An entry without a marker has the default class in force now, whatever it was when it was indexed."""
    made.log("s", message(1, None, "okapi"))
    made.update()
    made.remote()
    made.values["privacy.defaultClassification"] = default
    assert made.found("okapi") == (["00000001"] if seen else [])
    assert made.found("kap") == (["00000001"] if seen else [])


def test_what_a_named_provider_may_receive_counts(made: World) -> None:
    """A provider's own rule widens or narrows what it finds, but never to `local-only`."""
    made.log("s", *(message(number, None, text) for number, (text, _) in enumerate(MARKED[:2], 1)))
    made.values["privacy.remoteProviders"] = {"trusted": ["normal", "sensitive"]}
    made.remote("trusted")
    assert made.found("quagga", scope="current-session") == ["00000001"]
    made.remote("somebody")
    assert made.found("quagga", scope="current-session") == []


def test_markers_count_where_people_write(made: World) -> None:
    """Markers in what a tool or a model says set no class; in user and custom text they do; escaped they do not."""
    marked = MARKED[0][0]
    made.log(
        "s",
        message(1, None, marked, "toolResult"),
        message(2, 1, f"{marked} again", "assistant"),
        message(3, 2, f"{marked} user"),
        message(4, 3, "\\[context:sensitive]quagga escaped"),
    )
    made.remote()
    assert sorted(made.found("quagga")) == ["00000001", "00000002", "00000004"]


def test_a_hit_from_an_older_index_is_judged_by_the_rules_of_today(
    made: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that reached the index under older rules find nothing once the detectors know them for a secret."""
    text, secret = HIDDEN[1]
    made.log("s", message(1, None, f"take {text} home"))
    from privacy import redaction

    with monkeypatch.context() as patch:
        patch.setattr("index.writing.redact", lambda raw: redaction.Redacted(raw, 0))
        made.update()
    core = max(re.findall(r"\w+", secret), key=len)
    assert made.found(core) == []
    assert made.found(f'"{core}"') == []
    assert made.found("home") == ["00000001"]
