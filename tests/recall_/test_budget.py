"""An answer never costs more than its budget, holds what it can, and gives way in a fixed order."""

from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from logs import about, entry, header, lines, message, talk
from prices import price
from worlds import World, world

from foundation.texts import RawText, VisibleText
from privacy.secrets.examples import made as made_secret
from recall import wire
from recall.budget import Draft, cost, fit
from recall.evidence import Evidence, Place
from recall.excerpts import ROOM, SHORTEST, excerpt, serialised
from sessions.entries import Entry

Json = dict[str, Any]
Span = tuple[int, int]


def text_of(number: int, size: int) -> str:
    """Make words of a text that differ from those of others."""
    return " ".join(f"w{number}x{at}" for at in range(size))


SPECIAL = st.text(st.sampled_from('ab \n\t"\\é数😀\x00\x1b\ud83d/'), max_size=400)
IDS = st.text(st.characters(codec=None), min_size=1, max_size=200) | st.sampled_from(
    ("01a22855-f0f6-7000-8000-000000000000", "a" * 5000)
)
WARNINGS = ("candidate-limit", "lines-quarantined", "project-session-limit", "index-rebuilt")
NUMBERS = st.integers(0, 10**6)


def place(session_id: str) -> Place:
    return Place("", session_id, 0, 0, b"", 0)


def evidence(
    identity: str, *, kind: str, role: str, timestamp: int, classification: str, counts: tuple[int, int]
) -> Evidence:
    """Give an entry as an audience sees it, but for its text; `counts` are redactions and names masked."""
    entry = Entry(identity, None, kind, role, timestamp, (), RawText(""), marked=False)
    return Evidence(entry, classification, VisibleText(""), *counts)


@st.composite
def drafts(draw: st.DrawFn, *, everywhere: bool) -> Draft:
    """Draw a hit with whatever fields a hit can have, each as long as it can be."""
    text = VisibleText(draw(SPECIAL | st.integers(0, 600).map(partial(text_of, 7))) or "x")
    start = draw(st.integers(0, len(text) - 1))
    spans: list[list[Span]] = [[(start, min(start + draw(st.integers(1, 30)), len(text)))]]
    seen = evidence(
        draw(IDS),
        kind=draw(st.sampled_from(("message", "custom_message", "branch_summary"))),
        role=draw(st.sampled_from(("user", "bashExecution"))),
        timestamp=1_795_161_600_000,
        classification=draw(st.sampled_from(("normal", "local-only"))),
        counts=(draw(NUMBERS), draw(NUMBERS)),
    )
    relation = draw(st.sampled_from(("ancestor", "lineage-ancestor")))
    fields = wire.entry_fields("h_" + "0" * 38, place(draw(IDS)), seen, relation=relation, edited=draw(st.booleans()))
    fields |= {"projectId": "0" * 16} if everywhere or draw(st.booleans()) else {}
    fields |= {"project": draw(IDS)} if everywhere else {}
    fields |= {"matchReasons": ["literal", "all-words", "word"], "score": 12.3456}
    fields |= {"alsoIn": wire.places([(draw(IDS), draw(IDS))] * 3)} if draw(st.booleans()) else {}
    return Draft(fields, serialised(text), partial(excerpt, text, spans))


@settings(max_examples=200)
@given(data=st.data(), everywhere=st.booleans())
def test_no_answer_costs_more_than_its_budget(data: st.DataObject, everywhere: bool) -> None:
    """Whatever the hits and the budget: the cost is within it, one hit is there, and what went is counted."""
    budget = data.draw(st.integers(320 if everywhere else 256, 6000) | st.just(320 if everywhere else 256))
    hits = data.draw(st.lists(drafts(everywhere=everywhere), min_size=1, max_size=12))
    warnings = data.draw(st.lists(st.sampled_from(WARNINGS), unique=True))
    envelope = wire.envelope(
        "everywhere" if everywhere else "current-session", warnings, duplicates=data.draw(NUMBERS),
        after=data.draw(st.none() | st.just(0)), before=data.draw(st.none() | st.just(1)),
    )  # fmt: skip
    answer = fit(envelope, hits, budget=budget)
    assert price(answer) == cost(answer) <= budget
    assert 1 <= len(answer["hits"]) <= len(hits)
    assert answer["omitted"]["budget"] == len(hits) - len(answer["hits"])
    for hit, draft in zip(answer["hits"], hits, strict=False):
        size = serialised(hit["excerpt"])
        assert size >= min(SHORTEST, draft.length), hit["excerpt"]
        assert hit["truncated"] == (size != draft.length)
        for name in ("sessionId", "entryId"):
            kept = 40 if len(answer["hits"]) > 1 else 16  # what also gives way before the only hit would
            assert hit[name] == draft.fields[name] or (serialised(draft.fields[name]) > kept and len(hit[name]) <= 40)


def draft(text: str, **more: Any) -> Draft:
    """Make a hit of a text."""
    fields = {
        "sourceRef": "h_" + "0" * 22, "sessionId": "01a22855-f0f6-7000-8000-000000000000", "entryId": "00000001",
        "kind": "message", "role": "user", "relation": "ancestor", "classification": "normal",
    }  # fmt: skip
    return Draft(fields | more, serialised(text), partial(excerpt, VisibleText(text), [[(0, 1)]]))


@pytest.mark.parametrize("dates", [0, None])
@pytest.mark.parametrize(
    ("kind", "role"), [("message", "bashExecution"), ("custom_message", "custom"), ("branch_summary", "summary")]
)
def test_the_smallest_budget_holds_one_hit_of_the_longest_fields(kind: str, role: str, dates: int | None) -> None:
    """256 tokens hold a hit with every field that there is, each as long as it gets, and forty units of its text."""
    seen = evidence("é" * 300, kind=kind, role=role, timestamp=0, classification="local-only", counts=(12_345, 12_345))
    fields = wire.entry_fields("h_" + "0" * 22, place("s" * 300), seen, relation="lineage-ancestor", edited=True)
    text = VisibleText("word " * 500)
    warnings = ["lines-quarantined", "project-session-limit", "candidate-limit"]
    envelope = wire.envelope("current-session", warnings, duplicates=12_345, after=dates, before=dates)
    one = Draft(fields, serialised(text), partial(excerpt, text, [[(0, 4)]]))
    answer = fit(envelope, [one] * 12, budget=256)
    assert price(answer) <= 256
    assert len(answer["hits"]) == 1
    assert serialised(answer["hits"][0]["excerpt"]) >= SHORTEST
    assert len(answer["warnings"]) == 2


def test_an_answer_gives_way_in_its_order() -> None:
    """Excerpts shrink first, then score, reasons, other places, project ids, warnings, long ids go; hits go last."""
    more = {
        "projectId": "0" * 16,
        "matchReasons": ["literal"],
        "score": 1.0,
        "alsoIn": wire.places([("s" * 60, "e" * 60)]),
        "sessionId": "l" * 100,
    }
    envelope = wire.envelope(
        "project", ["a-warning", "b-warning", "c-warning", "d-warning"], duplicates=0, after=None, before=None
    )
    seen: list[tuple[str, ...]] = []
    for budget in range(2000, 255, -1):
        answer = fit(envelope, [draft("word " * 200, **more)] * 3, budget=budget)
        first = answer["hits"][0]
        here = (
            *(name for name in ("score", "matchReasons", "alsoIn", "projectId") if name not in first),
            *(["warnings"] if len(answer["warnings"]) == 2 else []),
            *(["ids"] if len(first["sessionId"]) <= 40 else []),
            *([f"{3 - len(answer['hits'])} hits"] if len(answer["hits"]) < 3 else []),
        )
        if not seen or seen[-1] != here:
            seen.append(here)
            assert serialised(first["excerpt"]) >= SHORTEST
    order = ("score", "matchReasons", "alsoIn", "projectId", "warnings", "ids")
    assert seen == [*(order[:number] for number in range(7)), (*order, "1 hits"), (*order, "2 hits")]


def test_excerpts_shrink_before_anything_else_goes() -> None:
    """Nothing about a hit is given up as long as the excerpts can still be shorter."""
    envelope = wire.envelope("project", [], duplicates=0, after=None, before=None)
    hits = [draft("word " * 2000, score=1.0)] * 6
    shortest = min(budget for budget in range(300, 3000) if "score" in fit(envelope, hits, budget=budget)["hits"][0])
    tight = fit(envelope, hits, budget=shortest)
    assert len(tight["hits"]) == 6
    assert all(SHORTEST <= serialised(hit["excerpt"]) <= ROOM + 4 for hit in tight["hits"])
    sizes = [
        sum(serialised(hit["excerpt"]) for hit in fit(envelope, hits, budget=budget)["hits"])
        for budget in range(shortest, 3000, 50)
    ]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 20 * sizes[0]


@pytest.mark.parametrize("budget", [256, 300, 512, 777, 1000, 3000, 6000])
def test_real_answers_fit(made: World, budget: int) -> None:
    """A search over long texts answers within every budget; the default one holds six hits."""
    made.log("s", *talk(60, lambda number: ("quagga " + "lorem ipsum dolor sit amet " * 8 + "\n") * 30 + f"n{number}"))
    made.values["historyTools.maxResults"] = 12
    answer = made.search("quagga", max_output_tokens=budget, limit=12)
    assert price(answer) <= budget
    assert answer["hits"]
    assert all("quagga" in hit["excerpt"] for hit in answer["hits"])
    assert len(made.search("quagga", limit=6)["hits"]) == 6
    assert len(made.search("quagga", limit=12, max_output_tokens=6000)["hits"]) == min(
        12, len(made.search("quagga", limit=12)["hits"])
    )


def test_the_setting_caps_the_budget(made: World) -> None:
    """A question may ask for less than the settings allow, never for more."""
    made.log("s", *talk(60, about("quagga " * 400)))
    made.values["historyTools.maxOutputTokens"] = 400
    assert price(made.search("quagga", max_output_tokens=6000)) <= 400
    assert price(made.search("quagga")) <= 400
    assert price(made.search("quagga", max_output_tokens=300)) <= 300


def test_the_best_and_longest_hit_is_trimmed_and_not_dropped(made: World) -> None:
    """A hit longer than the budget is shown in part; shorter and worse ones do not take its place."""
    long = "okapi okapi and zebra " * 600
    made.log("s", message(1, None, long), *talk(9, about("okapi among " + "many words " * 20), start=2, parent=1))
    answer = made.search("okapi zebra", max_output_tokens=400)
    assert answer["hits"][0]["entryId"] == "00000001"
    assert answer["hits"][0]["truncated"] is True


@settings(max_examples=40)
@given(identity=IDS, entry_id=IDS, text=SPECIAL, budget=st.integers(256, 400), cwd=st.text(max_size=300))
def test_odd_sessions_fit_too(identity: str, entry_id: str, text: str, budget: int, cwd: str) -> None:
    """End to end: ids, folders and texts of any kind, in every scope, never break a budget, and one hit is there."""
    with world() as made:
        one = message(1, None, f"okapi {text}") | {"id": entry_id}
        made.write("s", lines(header(f"/{cwd}", identity), one, entry("label", 2, 1) | {"parentId": entry_id}))
        for scope, least in (("current-session", 256), ("everywhere", 320)):
            answer = made.search("okapi", scope=scope, max_output_tokens=max(budget, least))
            assert price(answer) <= max(budget, least)
            assert len(answer["hits"]) == 1
            read = made.read(answer["hits"][0]["sourceRef"], max_output_tokens=budget)
            assert read["status"] in ("complete", "partial")
            assert price(read) <= budget


# --- excerpts ---------------------------------------------------------------------------------------------------------


@settings(max_examples=300)
@example(text="\\" * 10 + "\x00" * 5, places=[], units=0)
@example(text="a" + "\n" * 90, places=[(0, 0.9, 1)], units=0)
@given(
    text=st.text(st.sampled_from('abc de. \n"\\é数😀\x00\ud83d'), min_size=1, max_size=900),
    places=st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1), st.integers(1, 12)), max_size=12),
    units=st.integers(0, 700),
)
def test_an_excerpt_is_a_passage_of_its_text(text: str, places: list[tuple[int, float, int]], units: int) -> None:
    """An excerpt fits, is as long as it must be, is cut from the text, and shows a place that matched."""
    spans: list[list[Span]] = [[], [], [], []]
    for term, share, size in places:
        start = int(share * (len(text) - 1))
        spans[term].append((start, min(start + size, len(text))))
    for found in spans:
        found.sort()
    cut = excerpt(VisibleText(text), spans, units)
    assert serialised(cut) <= max(units, ROOM)
    assert serialised(cut) >= min(SHORTEST, serialised(text))
    if cut == text:
        return
    for passage in cut.split("…"):
        for piece in passage.split("…"):
            assert piece.strip("\n") in text or "\n" in piece
    wanted = [text[start:end] for found in spans for start, end in found]
    fitting = [piece for piece in wanted if serialised(piece) <= 12 and "…" not in piece and piece.strip()]
    if wanted and len(fitting) == len(wanted):
        assert any(piece in cut for piece in wanted)


@pytest.mark.parametrize("before", range(0, 90, 3))
def test_a_secret_across_the_cut_leaves_no_fragment(made: World, before: int) -> None:
    """Redaction comes before cutting: wherever the cut falls, no six characters of a secret are shown."""
    secret = made_secret("ghp_{an:36}").text
    made.log("s", message(1, None, "okapi " + "x" * before + f" token {secret} " + "and more words " * 20))
    for budget in (256, 262, 270, 280, 300):
        shown = made.search("okapi", max_output_tokens=budget)["hits"][0]["excerpt"]
        for at in range(len(secret) - 5):
            assert secret[at : at + 6] not in shown


def test_cuts_fall_on_borders() -> None:
    """Where a border of lines, sentences or words is near the cut falls there."""
    text = "First line of it.\n" * 30 + "The okapi stands here. It is striped.\n" + "Another line follows.\n" * 30
    at = text.index("okapi")
    cut = excerpt(VisibleText(text), [[(at, at + 5)]], 200)
    assert "The okapi stands here." in cut
    assert cut.startswith("…First line")
    assert cut.endswith((".…", "\n…"))


def test_an_excerpt_shows_different_terms_rather_than_one_often() -> None:
    """The passage with most of the terms is the best; in a long excerpt a second one shows what the first lacks."""
    text = (
        "okapi " * 50
        + "filler " * 300
        + "okapi and zebra together "
        + "filler " * 300
        + "quagga alone "
        + "filler " * 50
    )
    spans = [
        [(at, at + len(word)) for at in range(len(text)) if text.startswith(word, at)]
        for word in ("okapi", "zebra", "quagga")
    ]
    short = excerpt(VisibleText(text), spans, 120)
    assert "zebra" in short
    assert "okapi" in short
    assert "quagga" not in short
    long = excerpt(VisibleText(text), spans, 700)
    assert "zebra" in long
    assert "quagga" in long
