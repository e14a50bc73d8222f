"""What a process meets whose generation of the index another process has just replaced."""

from typing import Any

import apsw
import pytest
from logs import about, lines, message, talk
from worlds import World

from index import fresh, opening
from index.failures import translated


@pytest.fixture
def indexed(made: World) -> World:
    """Give a world with an index."""
    made.log("s", *talk(5, about("okapi")))
    made.update()
    return made


def replaced_at(made: World, monkeypatch: pytest.MonkeyPatch, where: str, *, before: bool) -> list[int]:
    """Let another generation come to be when a function is called for the first time."""
    module, name = where.rsplit(".", 1)
    import importlib

    real = getattr(importlib.import_module(module), name)
    switches: list[int] = []

    def meanwhile(*arguments: Any, **named: Any) -> Any:
        if not switches and before:
            switches.append(1)
            made.rebuild()
        answer = real(*arguments, **named)
        if not switches:
            switches.append(1)
            made.rebuild()
        return answer

    monkeypatch.setattr(where, meanwhile)
    return switches


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("grown", [True, False], ids=["grown", "same"])
@pytest.mark.parametrize(
    "where",
    [
        "index.opening._opened",
        "index.opening._prepare",
        "index.fresh.open_index",
        "index.fresh.lags",
        "recall.searching.bring_up_to_date",
        "recall.searching.authorise",
    ],
)
def test_a_search_whose_index_is_replaced_answers_in_full(
    indexed: World, monkeypatch: pytest.MonkeyPatch, where: str, grown: bool, before: bool
) -> None:
    """At whatever moment another process switches to a new index, the answer is whole and tells of no failure."""
    if grown:
        indexed.append("s", lines(message(6, 5, "turn 6 okapi")))
    switches = replaced_at(indexed, monkeypatch, where, before=before)
    answer = indexed.search("okapi")
    assert switches
    assert (len(answer["hits"]), answer["status"], answer["warnings"]) == (5 + grown, "complete", [])


def test_writing_to_a_replaced_index_is_told_as_busy() -> None:
    """SQLite calls a file that is gone read-only; it is another process that is in the way."""
    error = apsw.ReadOnlyError()
    error.extendedresult = apsw.SQLITE_READONLY_DBMOVED  # type: ignore[attr-defined]
    assert translated(error).code == "index-busy"


def test_a_replaced_index_is_not_taken_for_a_damaged_one(indexed: World) -> None:
    """Who finds the old generation unusable leaves the new one alone."""
    old = opening.current(indexed.index_folder)
    indexed.rebuild()
    new = opening.current(indexed.index_folder)
    assert old
    assert new
    fresh.start_over(indexed.index_folder, indexed.disk, damaged=old.files[0])
    assert opening.current(indexed.index_folder) == new
    fresh.start_over(indexed.index_folder, indexed.disk, damaged=new.files[0])
    assert opening.current(indexed.index_folder) not in (old, new)
