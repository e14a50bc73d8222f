"""Reading back: pages that add up to the very text, verified bytes, and references that stand for nothing else."""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from children import HOLD, finished, go_on, started
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import about, entry, header, line, lines, message, talk
from prices import price
from worlds import World, world

from foundation.texts import RawText
from privacy.redaction import redact
from privacy.secrets.examples import made as made_secret
from recall.evidence import Place
from recall.references import MOST_LIVE, VALID_MS, MemoryReferences, Reference

Json = dict[str, Any]


def reference_to(made: World, query: str = "okapi", **asked: Any) -> str:
    """Give a reference to the first hit of a question."""
    found: str = made.search(query, **asked)["hits"][0]["sourceRef"]
    return found


def refused(answer: Json, code: str) -> bool:
    """Tell whether a read was refused by a code, and showed nothing else."""
    told = {"status": "unavailable", "code": code, "warnings": [code]}
    return answer == {"schema": "context-history-read-v1", "quotedData": True} | told


def pages(made: World, reference: str, *, budget: int, most_lines: int) -> list[Json]:
    """Read an entry page by page."""
    read: list[Json] = []
    at: dict[str, int] = {"start_line": 1, "start_column": 1}
    while at:
        page = made.read(reference, max_output_tokens=budget, max_lines=most_lines, **at)
        assert price(page) <= budget
        assert page["status"] == ("partial" if "nextLine" in page else "complete")
        assert page["startLine"] == at["start_line"]
        read.append(page)
        at = {"start_line": page["nextLine"], "start_column": page.get("nextColumn", 1)} if "nextLine" in page else {}
        assert len(read) < 3000
    return read


def put_together(read: list[Json]) -> str:
    """Put pages together as a reader would."""
    text = ""
    for page in read:
        text += page["text"]
        if "nextLine" in page and "nextColumn" not in page:
            text += "\n"
    return text


LONG = st.tuples(st.text(st.characters(codec=None), min_size=1, max_size=40), st.integers(1, 60))
TEXTS = st.text(st.sampled_from('ab \n\n"\\é数😀\x00\x1b\ud83d\r\u2028'), max_size=300) | LONG.map(
    lambda long: long[0] * long[1]
)


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, budget=st.integers(256, 700) | st.just(256), most_lines=st.integers(1, 200))
def test_pages_add_up_to_the_very_text(text: str, budget: int, most_lines: int) -> None:
    """Whatever the text, the budget and the number of lines, the pages put together are the text, to the character."""
    with world() as made:
        made.log("s", message(1, None, f"okapi{text}"))
        read = pages(made, reference_to(made), budget=budget, most_lines=most_lines)
        assert put_together(read) == redact(RawText(f"okapi{text}")).text
        assert all(page["text"].count("\n") < most_lines for page in read)
        assert len({page["sha256"] for page in read}) == 1


def test_blank_lines_and_long_lines_are_paged(made: World) -> None:
    """Blank lines stay, and a line longer than the budget goes on at its next column."""
    text = "\n\nokapi\n" + "x" * 5000 + "\n\nend\n"
    made.log("s", message(1, None, text))
    reference = reference_to(made)
    read = pages(made, reference, budget=500, most_lines=200)
    assert put_together(read) == text
    assert {page["startLine"] for page in read} == {1, 4}
    assert [page.get("nextColumn") for page in read[:2]] == [None, len(read[1]["text"]) + 1]
    assert made.read(reference, start_line=6)["text"] == "end\n"
    assert made.read(reference, start_line=7)["text"] == ""
    assert made.read(reference, start_line=4, start_column=4991, max_lines=1)["text"] == "x" * 10


@pytest.mark.parametrize("raw_end", [b"\n", b"\r\n"])
def test_the_digest_is_that_of_the_raw_line(made: World, raw_end: bytes) -> None:
    """The SHA-256 of a read is that of the line's bytes without its newline; a carriage return belongs to them."""
    raw = line(message(1, None, "okapi é"))
    made.write("s", line(header(identity="s")) + b"\n" + raw + raw_end + lines(message(2, 1, "after")))
    read = made.read(reference_to(made))
    assert read["sha256"] == sha256(raw + raw_end[:-1]).hexdigest()
    assert read["verified"] is True
    with open(made.path("s"), "rb") as log:
        assert sha256(log.read().split(b"\n")[1]).hexdigest() == read["sha256"]


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_an_answer_says_what_it_reads(made: World, indexed: bool) -> None:
    """A read carries the fields of its hit, and the text of what is searched, not the raw JSON."""
    made.log("s", message(1, None, "okapi\nand more", "assistant"), message(2, 1, "the leaf"))
    if not indexed:
        made.without_index()
    hit = made.search("okapi")["hits"][0]
    read = made.read(hit["sourceRef"])
    for name in ("sourceRef", "sessionId", "entryId", "kind", "role", "timestamp", "relation", "classification"):
        assert read[name] == hit[name]
    assert (read["schema"], read["quotedData"], read["text"]) == ("context-history-read-v1", True, "okapi\nand more")
    assert (read["startLine"], read["status"], read["warnings"]) == (1, "complete", [])
    assert "nextLine" not in read
    assert "nextColumn" not in read


@pytest.mark.parametrize("dress", [b"\x00\x00\x00%b", b"\xef\xbb\xbf%b", b'%b{"type":"custom","id":"0000000e"}'])
def test_salvaged_entries_are_read_back_verified(made: World, dress: bytes) -> None:
    """An entry that Pi itself would skip is read by its own bytes."""
    raw = line(message(1, None, "okapi"))
    made.write("s", line(header(identity="s")) + b"\n" + (dress % raw) + b"\n" + lines(message(2, 1, "after")))
    read = made.read(reference_to(made, scope="current-session"))
    assert read["text"] == "okapi"
    assert read["sha256"] in {sha256(raw).hexdigest(), sha256(dress % raw).hexdigest()}


def test_an_entry_without_an_id_is_read_back(made: World) -> None:
    """Version 1 has no ids: what we made up for an entry leads back to it."""
    old = {"type": "message", "timestamp": "2026-11-20T08:00:00.000Z", "message": {"role": "user", "content": "okapi"}}
    made.write("s", lines({"type": "session", "id": "s", "cwd": "/x", "timestamp": "2026-11-20T08:00:00.000Z"}, old))
    hit = made.search("okapi")["hits"][0]
    assert hit["entryId"] == "n0000001"
    assert made.read(hit["sourceRef"])["entryId"] == "n0000001"


# --- redaction -------------------------------------------------------------------------------------------------------


def test_no_page_shows_a_piece_of_a_secret(made: World) -> None:
    """The whole text is redacted before it is paged: a key of many lines is on no page, however short the pages are."""
    key, token = made_secret("{pem:RSA }").text, made_secret("ghp_{an:36}").text
    made.log("s", message(1, None, f"okapi\n{key}\n" + "x" * 900 + f" token {token} " + "y" * 300))
    reference = reference_to(made)
    for budget, most_lines in ((256, 200), (256, 1), (300, 3), (3000, 200)):
        shown = put_together(pages(made, reference, budget=budget, most_lines=most_lines))
        for secret in (*key.split("\n")[1:-1], token):
            for at in range(len(secret) - 6):
                assert secret[at : at + 7] not in shown
    assert made.read(reference)["redactions"] == 2


def test_reveal_reads_the_text_as_it_is(made: World) -> None:
    """The owner who asks for it reads a secret, and is told that it is one."""
    token = made_secret("ghp_{an:36}").text
    made.log("s", message(1, None, f"okapi token {token}"))
    reference = reference_to(made)
    made.reveal = True
    read = made.read(reference)
    assert (read["text"], read["redactions"]) == (f"okapi token {token}", 1)


def test_what_is_not_for_an_audience_is_not_read(made: World) -> None:
    """A reference does not carry over to an audience that may not see the class, and does not tell it why."""
    made.log("s", message(1, None, "[context:sensitive]okapi[/context:sensitive]"))
    reference = reference_to(made)
    made.remote()
    assert refused(made.read(reference), "reference-unavailable")
    made.values["privacy.remoteProviders"] = {"somebody": ["normal", "sensitive"]}
    assert made.read(reference)["classification"] == "sensitive"


# --- the source moved on ----------------------------------------------------------------------------------------------


CHANGES: dict[str, tuple[Callable[[World], object], str]] = {
    "edited": (lambda made: made.write("s", read_bytes(made).replace(b"okapi", b"OKAPI")), "source-changed"),
    "shifted": (lambda made: made.write("s", lines(header(identity="s", extra="x")) + body(made)), "source-changed"),
    "cut": (lambda made: made.write("s", read_bytes(made)[:150]), "source-changed"),
    "emptied": (lambda made: made.write("s", b""), "source-changed"),
    "another session": (lambda made: made.replace("s", lines(header(identity="z")) + body(made)), "source-changed"),
    "deleted": (lambda made: made.delete("s"), "reference-unavailable"),
    "moved": (lambda made: made.move("s", "t"), "reference-unavailable"),
}


def read_bytes(made: World) -> bytes:
    """Give the bytes of the log."""
    with open(made.path("s"), "rb") as log:
        return log.read()


def body(made: World) -> bytes:
    """Give the bytes of the log without its header."""
    return read_bytes(made).split(b"\n", 1)[1]


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_a_source_that_changed_is_never_read(made: World, name: str, indexed: bool) -> None:
    """Where the bytes are not what was found, nothing of them leaves, and the answer says so."""
    made.log("s", *talk(3, about("okapi")))
    if not indexed:
        made.without_index()
    reference = reference_to(made)
    change, code = CHANGES[name]
    change(made)
    assert refused(made.read(reference), code)


@pytest.mark.parametrize("change", ["deleted", "moved"])
def test_a_sibling_that_is_gone_is_said_to_be_gone(made: World, change: str) -> None:
    """The file of another session that was deleted or moved is unavailable; a fresh search finds it where it is now."""
    made.values["historyTools.allowProjectScope"] = True
    made.log("s", message(1, None, "here"))
    made.log("t", message(1, None, "okapi"))
    reference = reference_to(made, scope="project")
    made.delete("t") if change == "deleted" else made.move("t", "u")
    assert refused(made.read(reference), "source-unavailable")
    assert len(made.found("okapi", scope="project")) == (change == "moved")


def test_growth_and_touching_change_nothing(made: World) -> None:
    """An entry stays readable while its log grows, and whatever its times say."""
    made.log("s", *talk(3, about("okapi")))
    reference = reference_to(made)
    before = made.read(reference)
    made.append("s", lines(message(4, 3, "turn 4")))
    made.touch("s", seconds=1_000_000_000)
    assert made.read(reference) == before


# --- references ----------------------------------------------------------------------------------------------


@pytest.fixture
def asked(made: World) -> tuple[World, str]:
    """Give a world of two branches, the leaf on the first, and a reference to entry 4 of it."""
    made.log("s", *talk(4, about("okapi")), message(5, 2, "turn 5 okapi, aside"), message(6, 4, "the leaf"))
    made.log("t", message(1, None, "another session"))
    return made, made.search('"turn 4"')["hits"][0]["sourceRef"]


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "h_",
        "h_" + "0" * 22,
        "x" * 5000,
        "../../etc/passwd",
        "00000004",
        "s:00000004",
        "\ud83d",
        None,
        7,
        ["h"],
        b"h",
    ],
)
def test_only_references_that_were_given_out_are_read(asked: tuple[World, str], forged: Any) -> None:
    """No path, no id and no guess is a reference."""
    assert refused(asked[0].read(forged), "reference-unavailable")


def test_one_changed_character_is_another_reference(asked: tuple[World, str]) -> None:
    """A reference is taken to the letter."""
    made, reference = asked
    assert made.read(reference)["verified"]
    for other in (reference[:-1] + "x", reference + " ", " " + reference, reference.upper(), reference[:-1]):
        assert refused(made.read(other), "reference-unavailable")


def test_a_reference_lives_ten_minutes(asked: tuple[World, str]) -> None:
    """A reference is valid for 600 seconds and not a millisecond longer."""
    made, reference = asked
    made.now += VALID_MS - 1
    assert made.read(reference)["verified"]
    made.now += 1
    assert refused(made.read(reference), "reference-unavailable")
    assert VALID_MS == 600_000


def test_a_reference_belongs_to_its_session(asked: tuple[World, str]) -> None:
    """From another current session, or none, the reference is unknown."""
    made, reference = asked
    made.session = "t"
    assert refused(made.read(reference), "reference-unavailable")
    made.session = "nowhere"
    assert refused(made.read(reference), "reference-unavailable")


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_the_scope_is_asked_again(asked: tuple[World, str], indexed: bool) -> None:
    """An entry that is no ancestor any more because the leaf moved is out of a branch reference's scope."""
    made, reference = asked
    if not indexed:
        made.without_index()
    made.leaf = "00000005"
    assert refused(made.read(reference), "reference-unavailable")
    made.leaf = None
    assert made.read(reference)["relation"] == "ancestor"
    made.append("s", lines(message(7, 5, "the log goes on aside")))
    assert refused(made.read(reference), "reference-unavailable")


def test_a_session_reference_outlives_the_branch(asked: tuple[World, str]) -> None:
    """In session scope an entry stays readable when the leaf moves, and is labelled anew."""
    made, _ = asked
    reference = reference_to(made, '"turn 4"', scope="current-session")
    made.leaf = "00000005"
    assert made.read(reference)["relation"] == "other-branch"


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_what_was_edited_out_is_read_with_its_label(made: World, indexed: bool) -> None:
    """An entry that a context edit omits is read in session scope with its label, and is out of the branch's."""
    made.log("s", *talk(3, about("okapi")), message(4, 3, "the leaf"))
    if not indexed:
        made.without_index()
    in_branch = reference_to(made, '"turn 2"')
    in_session = reference_to(made, '"turn 2"', scope="current-session")
    assert "contextEdit" not in made.read(in_session)
    made.append("s", lines(entry("context_edit", 5, 4, targetId="00000002", replacement=None)))
    assert refused(made.read(in_branch), "reference-unavailable")
    read = made.read(in_session)
    assert (read["contextEdit"], read["relation"], read["text"]) == ("omitted", "ancestor", "turn 2 okapi")


@pytest.mark.parametrize(
    "change",
    [
        lambda made: setattr(made, "excluded", frozenset({"t"})),
        lambda made: setattr(made, "visibility", made.visibility._replace(hidden_sessions=frozenset({"t"}))),
        lambda made: setattr(made, "trusted", False),
        lambda made: made.values.update({"historyTools.allowProjectScope": False}),
        lambda made: made.values.update({"historyTools.maxProjectSessions": 1}),
        lambda made: setattr(made, "project", "/elsewhere"),
    ],
    ids=["excluded", "removed", "untrusted", "disallowed", "capped", "project"],
)
def test_a_sibling_s_reference_needs_all_that_the_search_needed(made: World, change: Callable[[World], object]) -> None:
    """Exclusion, removal, trust, settings and project are asked again at the moment of reading."""
    made.values["historyTools.allowProjectScope"] = True
    made.log("t", message(1, None, "okapi"))
    made.log("s", message(1, None, "here"))
    reference = reference_to(made, scope="project")
    assert made.read(reference)["relation"] == "sibling-session"
    change(made)
    assert refused(made.read(reference), "reference-unavailable")


def test_everywhere_is_asked_again_too(made: World) -> None:
    """Who is no owner any more reads nothing by a reference of an owner's search."""
    made.log("t", message(1, None, "okapi"), cwd="/elsewhere")
    made.log("s", message(1, None, "here"))
    reference = reference_to(made, scope="everywhere")
    assert made.read(reference)["verified"]
    made.owner = False
    assert refused(made.read(reference), "reference-unavailable")


def test_a_sibling_that_became_another_project_s_is_not_read(made: World) -> None:
    """The header is held against the project when the bytes are read."""
    made.values["historyTools.allowProjectScope"] = True
    raw = message(1, None, "okapi")
    made.log("t", raw, cwd="/home/dev/proj")
    made.log("s", message(1, None, "here"))
    reference = reference_to(made, scope="project")
    made.write("t", lines(header("/home/dev/pro2", "t"), raw))
    assert made.read(reference)["status"] == "unavailable"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"start_line": 0}, "invalid-range"),
        ({"start_line": "1"}, "invalid-range"),
        ({"start_column": 0}, "invalid-range"),
        ({"max_lines": 0}, "invalid-range"),
        ({"max_lines": 201}, "invalid-range"),
        ({"max_lines": True}, "invalid-range"),
        ({"max_output_tokens": 255}, "invalid-budget"),
        ({"max_output_tokens": 6001}, "invalid-budget"),
        ({"start_line": 2}, "range-out-of-bounds"),
        ({"start_column": 14}, "range-out-of-bounds"),
        ({"start_line": 10**9}, "range-out-of-bounds"),
    ],
)
def test_an_invalid_range_is_refused_by_its_code(asked: tuple[World, str], given: Json, code: str) -> None:
    """Lines, columns and budgets out of range are refused, and nothing is read."""
    made, reference = asked
    assert made.read(reference)["text"] == "turn 4 okapi"
    assert refused(made.read(reference, **given), code)


def test_a_read_waits_for_nobody(asked: tuple[World, str]) -> None:
    """While another process holds the index a reference is read all the same, and its scope asked of the log."""
    made, reference = asked
    made.append("s", lines(message(7, 6, "the log goes on")))
    holder = started(HOLD, made.index_folder, "begin immediate")
    assert made.read(reference)["verified"]
    made.append("s", lines(message(8, 5, "the log goes on aside")))
    assert refused(made.read(reference), "reference-unavailable")
    finished(go_on(holder))


# --- the table of references ------------------------------------------------------------------------------------------


def some_reference(number: int) -> Reference:
    """Make a reference to nothing in particular."""
    return Reference("/s.jsonl", "current-branch", Place("/s.jsonl", "s", number, 1, b"", number))


def table(now: list[int]) -> MemoryReferences:
    """Make a table whose clock the test moves."""
    issued = iter(range(10**6))
    return MemoryReferences(lambda: now[0], lambda: f"h_{next(issued)}")


def test_at_most_512_references_live() -> None:
    """The oldest references make room; the newest 512 all stand for their entries."""
    references = table([0])
    names = [references.issue([some_reference(number)])[0] for number in range(600)]
    assert [references.find(name) for name in names] == [
        some_reference(number) if number >= 600 - MOST_LIVE else None for number in range(600)
    ]
    assert MOST_LIVE == 512


def test_expired_references_make_room_first() -> None:
    """What has expired counts no more."""
    now = [0]
    references = table(now)
    old = references.issue([some_reference(number) for number in range(500)])
    now[0] = VALID_MS
    new = references.issue([some_reference(number) for number in range(512)])
    assert not any(references.find(name) for name in old)
    assert all(references.find(name) for name in new)


def test_references_are_not_kept_in_the_clear() -> None:
    """The table holds digests: whoever sees it cannot read a reference out of it."""
    references = table([0])
    name = references.issue([some_reference(1)])[0]
    assert name not in json.dumps([key.hex() for key in references._live]) + repr(references._live)


def test_a_named_pipe_in_the_place_of_a_log_waits_for_nobody(made: World) -> None:
    """A log that has become a pipe is unavailable at once."""
    made.values["historyTools.allowProjectScope"] = True
    made.log("s", message(1, None, "here"))
    made.log("t", message(1, None, "okapi"))
    reference = reference_to(made, scope="project")
    made.delete("t")
    os.mkfifo(made.path("t"))
    try:
        assert made.read(reference)["status"] == "unavailable"
        assert made.search("okapi", scope="project")["hits"] == []
    finally:
        os.unlink(made.path("t"))
