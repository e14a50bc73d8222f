"""Which hits come first, what is left out and said so, and what can be switched off."""

import json

import pytest
from logs import about, lines, message, talk
from worlds import World


def test_the_only_literal_hit_comes_first_of_very_many(made: World) -> None:
    """The oldest entry, alone in holding the literal, comes before 1,299 newer ones that hold its words."""
    made.log(
        "s",
        message(1, None, "run chat-send now"),
        *talk(1299, lambda number: f"chat then send {number}", start=2, parent=1),
    )
    answer = made.search("chat-send")
    assert (answer["hits"][0]["entryId"], answer["hits"][0]["matchReasons"][0]) == ("00000001", "literal")


def test_tiers_come_in_their_order(made: World) -> None:
    """Literal hits come before those with all words, and these before those with some, whatever else is for them."""
    made.log(
        "s",
        message(1, None, "the parcel-service is down"),
        message(2, 1, "the service that brings the parcel is down"),
        message(3, 2, "parcel parcel parcel"),
        message(4, 3, "service service service service"),
    )
    assert made.found("parcel-service")[:2] == ["00000001", "00000002"]
    assert set(made.found("parcel-service")[2:]) == {"00000003", "00000004"}
    assert made.found("parcel-service down")[:2] == ["00000001", "00000002"]
    assert made.found("parcel-service unheard of")[0] == "00000001"
    found = made.found("service parcel")
    assert (set(found[:2]), set(found[2:])) == ({"00000001", "00000002"}, {"00000003", "00000004"})


@pytest.mark.parametrize("query", ["chat-xyzzy", "xyzzy-chat", "chat:xyzzy", "what of chat-xyzzy?", "x/y/chat.py"])
@pytest.mark.parametrize("indexed", [True, False])
def test_one_word_of_a_literal_is_better_than_nothing(made: World, query: str, *, indexed: bool) -> None:
    """A term with punctuation that stands nowhere counts by its words, also when only one of them is there."""
    made.log("s", message(1, None, "only a chat"), message(2, 1, "nothing like it"))
    if not indexed:
        made.without_index()
    assert made.found(query) == ["00000001"]
    assert made.found(f"`{query}`") == []


def test_ties_are_broken_the_same_way_each_time(made: World) -> None:
    """Equal texts at equal times come in one order, whatever else was asked before."""
    made.log(
        "s",
        *(
            message(number, None, f"same words {number}") | {"timestamp": "2026-11-20T08:00:00.000Z"}
            for number in range(1, 30)
        ),
    )
    first = made.found("same words", scope="current-session")
    made.search("same")
    assert made.found("same words", scope="current-session") == first
    made.rebuild()
    assert made.found("same words", scope="current-session") == first


def test_caps_are_reported(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that left candidates or lines out says so, and is partial; one that did not is complete."""
    made.log("s", *talk(30, lambda number: f"turn {number} okapi parcel"))
    assert made.search("okapi")["status"] == "complete"
    monkeypatch.setattr("recall.candidates.CAP", 20)
    answer = made.search("okapi")
    assert (answer["status"], answer["warnings"]) == ("partial", ["candidate-limit"])
    monkeypatch.undo()
    monkeypatch.setattr("recall.scanning.MOST_BYTES", 3000)
    answer = made.search("kapi")
    assert (answer["status"], answer["warnings"]) == ("partial", ["scan-limit"])
    assert answer["hits"]
    made.tick = 3000
    answer = made.search("unheard")
    assert "scan-limit" in answer["warnings"]
    made.tick = 0
    monkeypatch.undo()
    long = " ".join(f"w{number}" for number in range(40))
    assert made.search(f"okapi {long}")["warnings"] == ["query-shortened"]


@pytest.mark.parametrize("query", ["resume", "résumé", "re\u0301sume\u0301", "RÉSUMÉ", "resum*"])
@pytest.mark.parametrize("said", ["résumé", "re\u0301sume\u0301", "resume", "Re\u0301sumé"])
@pytest.mark.parametrize("indexed", [True, False])
def test_accents_do_not_matter_however_they_are_written(made: World, query: str, said: str, indexed: bool) -> None:
    """Composed and decomposed letters find each other, and the plain ones, with an index and without."""
    made.log("s", message(1, None, f"the {said} of it"))
    if not indexed:
        made.without_index()
    assert made.found(query) == ["00000001"]


def test_a_literal_inside_of_words_is_found_though_words_match(made: World) -> None:
    """Where no entry holds a literal from the start of a word on, the lines themselves are searched for it."""
    made.log(
        "s",
        message(1, None, "the xpost-officex of the town"),
        *talk(20, lambda number: f"post {number} office", start=2, parent=1),
    )
    hit = made.search("post-office")["hits"][0]
    assert (hit["entryId"], hit["matchReasons"][0]) == ("00000001", "literal")


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
@pytest.mark.parametrize("escaped", [True, False], ids=["escaped", "raw"])
def test_a_part_of_a_word_is_found_among_lines_of_every_kind(made: World, indexed: bool, escaped: bool) -> None:
    """Lines that are read in one block are each searched: plain ones, accented ones and ones with escapes."""
    accented = message(9, 8, "xrésuméx")
    made.log("s", *talk(8, about("plain")))
    made.append("s", json.dumps(accented, ensure_ascii=escaped).encode() + b"\n")
    made.append("s", lines(*talk(8, about("plain"), start=10, parent=9)))
    if not indexed:
        made.without_index()
    assert made.found("esum") == ["00000009"]


@pytest.mark.parametrize("off", ["retrieval.exact", "retrieval.fts"])
def test_half_of_retrieval_can_be_switched_off(made: World, off: str) -> None:
    """Without literals their words count; without words only literals do."""
    made.values[off] = False
    made.log("s", message(1, None, "run chat-send"), message(2, 1, "chat then send"))
    if off == "retrieval.exact":
        made.append("s", lines(message(3, 2, "to send")))
        answer = made.search('"chat-send"')
        reasons = {hit["entryId"].lstrip("0"): hit["matchReasons"] for hit in answer["hits"]}
        assert reasons == {"1": ["all-words", "word"], "2": ["all-words", "word"], "3": ["word"]}
    else:
        assert made.found("chat-send") == ["00000001"]
        answer = made.search("chat send")
        assert (answer["status"], answer["code"], answer["hits"]) == ("partial", "lexical-retrieval-disabled", [])


def test_with_all_retrieval_off_the_answer_says_so(made: World) -> None:
    """Both ways switched off is partial with its code, not an empty success."""
    made.values |= {"retrieval.exact": False, "retrieval.fts": False}
    made.log("s", message(1, None, "run chat-send"))
    answer = made.search('"chat-send"')
    assert (answer["status"], answer["code"], answer["coverage"]) == (
        "partial",
        "lexical-retrieval-disabled",
        "unknown",
    )
