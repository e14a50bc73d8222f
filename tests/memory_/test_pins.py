"""Pins and session memory as replays of entries: what holds, whatever the order of writers, and what may be wished for."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remembering import Ids

from foundation.errors import ContextError
from foundation.settings import defaults
from memory.pins import Kind, Mutation, Replayed, Wish, data_of, freezable, frozen, replay, thawed

NOW = 1_795_161_600_000


class Log:
    """A session that remembers, as its entries."""

    def __init__(self, session: str = "s") -> None:
        self.session, self.identify = session, Ids()
        self.mutations: list[Mutation] = []
        self.inherited: list[Any] = []
        self.branch: set[str] = set()
        self.values = defaults()

    @property
    def state(self) -> Replayed:
        """What holds now."""
        return replay(self.mutations, on_branch=lambda entry: entry in self.branch, inherited=self.inherited)

    def do(self, kind: Kind, operation: str, **more: str) -> Mutation:
        """Wish for something, and let Pi append it."""
        wish = Wish(kind, operation, **more)
        data = data_of(wish, self.state, self.values, now=NOW, identify=self.identify, leaf="leaf", project="/p")
        return self.append(kind, json.loads(json.dumps(data)))

    def append(self, kind: Kind, data: Any) -> Mutation:
        """Append an entry as it is."""
        number = len(self.mutations)
        made = Mutation(kind, data, NOW + number, self.session, number, f"e{number}", "p")
        self.mutations.append(made)
        self.branch.add(made.entry)
        return made

    def texts(self, kind: Kind) -> list[str]:
        """List what holds of a kind."""
        return [item.text for item in self.state.active(kind)]


def test_added_superseded_ended() -> None:
    """Nothing is edited: what holds follows from all that was said."""
    log = Log()
    log.branch.add("leaf")
    log.do("pin", "add", text="Keep   the tests green.", scope="branch")
    first = log.state.items[0]
    assert (first.text, first.branch_leaf, first.scope) == ("Keep the tests green.", "leaf", "branch")
    log.do("pin", "supersede", id=first.id, text="Keep all tests green.")
    assert log.texts("pin") == ["Keep all tests green."]
    log.do("pin", "deleted", id=log.state.active("pin")[0].id, reason="done")
    assert log.texts("pin") == []
    assert [item.status for item in log.state.items] == ["superseded", "deleted"]


@pytest.mark.parametrize(("more", "code"), [
    ({"text": "The port is 8081."}, "memory-conflict"), ({"text": "the port defaults to 1"}, "memory-conflict"),
    ({"text": "We do not deploy on Fridays."}, "memory-conflict"), ({"text": "The port is 8080."}, "memory-said-already"),
    ({"text": ""}, "memory-wish-unknown"), ({"text": "x", "scope": "branch"}, "memory-wish-unknown"),
    ({"text": "y" * 2001}, "memory-text-too-long"),
])  # fmt: skip
def test_what_contradicts_is_refused(more: dict[str, str], code: str) -> None:
    """One thing has one value; a denial of what holds, and what stands there, are refused."""
    log = Log()
    log.do("memory", "add", text="The port is 8080.")
    log.do("memory", "add", text="We deploy on Fridays.")
    with pytest.raises(ContextError) as refused:
        log.do("memory", "add", **more)
    assert refused.value.code == code


def test_pins_have_room_for_so_much() -> None:
    """All pins together stay within `memory.maxPinnedTokens`."""
    log = Log()
    log.values = {**defaults(), "memory.maxPinnedTokens": 10}
    log.do("pin", "add", text="x" * 30)
    with pytest.raises(ContextError, match="more pins"):
        log.do("pin", "add", text="y" * 30)


def test_a_pin_of_a_branch_is_there_only_on_that_branch() -> None:
    """Where the leaf that it was made at is no ancestor, it does not hold."""
    log = Log()
    log.branch.add("leaf")
    log.do("pin", "add", text="Here.", scope="branch")
    log.do("pin", "add", text="Everywhere.")
    assert log.texts("pin") == ["Here.", "Everywhere."]
    log.branch.discard("leaf")
    assert log.texts("pin") == ["Everywhere."]


@pytest.mark.parametrize("data", [
    None, [], {}, {"schemaVersion": 1, "mutationId": 4}, {"schemaVersion": 2, "mutationId": "m", "operation": "add"},
    {"schemaVersion": 1, "mutationId": "m", "operation": "add", "item": {"id": "", "scope": "session", "content": "x"}},
    {"schemaVersion": 1, "mutationId": "m", "operation": "add", "item": {"id": "i", "scope": "galaxy", "content": "x"}},
    {"schemaVersion": 1, "mutationId": "m", "operation": "add", "item": {"id": "i", "scope": "session", "content": 7}},
    {"schemaVersion": 1, "mutationId": "m", "operation": "status", "pinId": "nobody", "status": "deleted"},
])  # fmt: skip
def test_what_is_malformed_does_not_count(data: Any) -> None:
    """It is passed over with a warning, and everything else holds."""
    log = Log()
    log.do("pin", "add", text="Sound.")
    log.append("pin", data)
    assert log.texts("pin") == ["Sound."]
    assert log.state.warnings


def test_a_continuation_lies_over_what_was_frozen() -> None:
    """Ids, times, class and provenance stay; what the new session ends is ended there; another branch sees it again."""
    old = Log("old")
    old.do("pin", "add", text="Frozen pin.")
    old.do("memory", "add", text="The port is 8080.")
    old.do("memory", "add", text="Whole project.", scope="project")
    rows = [frozen(item, item.text) for item in freezable(old.state)]
    assert [row["text"] for row in rows] == ["Frozen pin.", "The port is 8080."]
    new = Log("new")
    new.identify.last = 50
    new.inherited = thawed(json.loads(json.dumps(rows)))
    assert [(item.id, item.created_at, item.session) for item in new.state.items] == [
        (item.id, item.created_at, "old") for item in old.state.items[:2]
    ]
    ended = new.do("pin", "deleted", id=new.state.active("pin")[0].id)
    new.do("memory", "supersede", id=new.state.active("memory")[0].id, text="The port is 9090.")
    assert (new.texts("pin"), new.texts("memory")) == ([], ["The port is 9090."])
    new.branch.discard(ended.entry)
    assert new.texts("pin") == ["Frozen pin."]
    again = [frozen(item, item.text) for item in freezable(new.state)]
    assert again[0] == rows[0]


@given(st.data())
def test_the_order_of_writers_does_not_matter(data: st.DataObject) -> None:
    """Entries of several sessions come to the same, in whatever order they are read."""
    logs = [Log("a"), Log("b")]
    logs[1].identify.last = 500
    for number in range(data.draw(st.integers(1, 8))):
        log = logs[data.draw(st.integers(0, 1))]
        kind: Kind = data.draw(st.sampled_from(["pin", "memory"]))
        held, end = log.state.active(kind), data.draw(st.booleans())
        if held and end:
            log.do(kind, "deleted" if kind == "pin" else "expired", id=held[0].id)
        else:
            log.do(kind, "add", text=f"text {number}")
    everything = [*logs[0].mutations, *logs[1].mutations]
    shuffled = data.draw(st.permutations(everything))
    assert replay(shuffled, on_branch=lambda _: True) == replay(everything, on_branch=lambda _: True)
