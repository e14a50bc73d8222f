"""Reading back: pages that add up to the very text, verified bytes, and references that stand for nothing else."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from asking import reference_to, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import about, header, line, lines, message, talk
from prices import price
from worlds import World, world

from foundation.texts import RawText
from privacy.redaction import redact
from privacy.secrets.examples import made as made_secret

Json = dict[str, Any]


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


@settings(max_examples=100)
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
