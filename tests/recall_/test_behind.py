"""Questions while the index is behind the logs, and logs that are odd."""

import signal
from typing import Any

import pytest
from asking import relations
from children import HOLD, finished, go_on, started
from logs import about, header, line, lines, message, talk
from worlds import World


def test_a_branch_that_moved_before_the_index_saw_it_counts(forked: World) -> None:
    """With the index held by another process, the branch is that of the log, not the one that the index knows."""
    forked.update()
    forked.append("s", lines(message(8, 6, "turn 8 okapi, on the other branch now")))
    holder = started(HOLD, forked.index_folder, "begin immediate")
    answer = forked.search("okapi")
    assert {hit["entryId"].lstrip("0"): hit["relation"] for hit in answer["hits"]} == dict.fromkeys(
        "123568", "ancestor"
    )
    assert "index-behind" in answer["warnings"]
    for hit in answer["hits"]:
        assert forked.read(hit["sourceRef"])["verified"]
    labels = relations(forked, "okapi", scope="current-session")
    assert labels == dict.fromkeys("123568", "ancestor") | {"4": "other-branch"}
    finished(go_on(holder))


def test_a_log_that_was_rewritten_before_the_index_saw_it_counts(forked: World) -> None:
    """With the index held by another process, a rewritten log is read from its beginning."""
    forked.update()
    forked.write("s", lines(header(identity="s"), *talk(2, about("okapi anew"))))
    holder = started(HOLD, forked.index_folder, "begin immediate")
    assert relations(forked, "okapi") == dict.fromkeys("12", "ancestor")
    assert sorted(hit["excerpt"] for hit in forked.search("okapi")["hits"]) == [
        "turn 1 okapi anew",
        "turn 2 okapi anew",
    ]
    finished(go_on(holder))


def test_a_log_that_was_rewritten_with_the_same_ids_counts(forked: World) -> None:
    """The beginning of a rewritten log is read again, also where its last entry is the one that the index knows."""
    forked.update()
    with open(forked.path("s"), "rb") as log:
        old = log.read()
    forked.write("s", old.replace(b"turn 1 okapi", b"turn 1 tapir").replace(b"turn 2 okapi", b"tapir, turn 2 okapi"))
    holder = started(HOLD, forked.index_folder, "begin immediate")
    assert relations(forked, "tapir") == dict.fromkeys("12", "ancestor")
    assert relations(forked, "okapi") == dict.fromkeys("234", "ancestor")
    finished(go_on(holder))


def test_a_live_session_is_searched_before_it_is_indexed(made: World) -> None:
    """Where time does not suffice to index a session, its log is searched, and the answer says what is missing."""
    made.log("s", *talk(20, about("okapi")))
    made.tick = 3000
    answer = made.search("okapi")
    assert answer["status"] == "partial"
    assert "index-behind" in answer["warnings"]
    made.tick = 0
    assert made.search("okapi")["status"] == "complete"


def test_growth_while_we_search_is_no_lag(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that grows between being listed and being read is indexed as it is; nothing is behind."""
    made.log("s", *talk(3, about("okapi")))
    made.update()
    made.append("s", lines(message(4, 3, "turn 4 okapi")))
    listed = made.here()
    monkeypatch.setattr(made, "here", lambda: listed)
    made.append("s", lines(message(5, 4, "turn 5 okapi")))
    answer = made.search("okapi")
    assert (len(answer["hits"]), answer["status"]) == (5, "complete")


def test_odd_names_are_names(made: World) -> None:
    """A session whose id, folder and entry ids hold quotes, newlines and lone surrogates is found and read."""
    odd = "\ud83d\"'\n\x00é"
    made.write("s", line(header("/home/\ud83d", odd)) + b"\n" + line(message(1, None, "okapi") | {"id": odd}) + b"\n")
    made.values["historyTools.allowProjectScope"] = True
    hit = made.search("okapi")["hits"][0]
    assert (hit["entryId"], hit["relation"]) == (odd, "ancestor")
    assert made.read(hit["sourceRef"])["text"] == "okapi"


def test_a_changed_line_is_not_shown_while_another_process_holds_the_index(made: World) -> None:
    """Where the index is wrong and cannot be told so, the answer lacks the changed entry, says so, and does not wait."""
    made.log("s", *talk(300, about("okapi " + "and others " * 20)))
    made.update()
    with open(made.path("s"), "rb") as log:
        old = log.read()
    made.write("s", old.replace(b"turn 77 okapi", b"turn 77 tapir") + lines(message(301, 300, "more")))
    made.update(thorough=False)
    holder = started(HOLD, made.index_folder, "begin immediate")
    signal.alarm(8)  # ten seconds is what a writer waits
    try:
        answer = made.search('"turn 77 okapi"')
    finally:
        signal.alarm(0)
    assert (answer["hits"], answer["status"], answer["warnings"]) == ([], "partial", ["source-changed"])
    finished(go_on(holder))
    assert made.search('"turn 77 okapi"')["status"] == "complete"


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_a_log_that_changes_while_its_lines_are_read_shows_nothing_else(
    made: World, monkeypatch: pytest.MonkeyPatch, indexed: bool
) -> None:
    """Bytes that are not the entry that lay there are no evidence, whatever they happen to spell."""
    inner = '{"type":"message","message":{"role":"user","content":"xokapix"}}'
    made.log("s", *talk(20, about("xokapix")))
    if not indexed:
        made.without_index()
    made.search("unheard")
    shifted = lines(header(identity="s", note="x" * 40), *talk(20, lambda number: f"{inner}{number} xokapix"))

    def rewrite(*arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr("recall.scanning.Lookout.scan", scan)
        made.write("s", shifted)
        return scan(*arguments, **named)

    from recall.scanning import Lookout

    scan = Lookout.scan
    monkeypatch.setattr("recall.scanning.Lookout.scan", rewrite)
    answer = made.search("okapi")
    for hit in answer["hits"]:
        assert made.read(hit["sourceRef"])["text"] == hit["excerpt"]
    assert indexed or (answer["hits"], answer["status"]) == ([], "partial")
