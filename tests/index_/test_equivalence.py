"""However an index came about, it holds the very rows that one rebuild from the same files gives."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from index_rows import compare_with_rebuild
from logs import about, header, lines, talk
from wild_logs import logs
from worlds import World, world

from index.ancestors import ancestry, rid_of
from index.catching_up import catch_up
from index.lagging import lags
from index.listing import sessions
from index.schema import first_rid, id_key
from index.sql import rows
from sessions.tree import outline

NAMES = st.sampled_from(("s", "t"))
SHARES = st.floats(0, 1, width=16)

changes = st.one_of(
    st.tuples(st.just("append"), NAMES, logs(), st.lists(SHARES, max_size=3)),
    st.tuples(st.just("append"), NAMES, logs(), st.lists(SHARES, max_size=3)),
    st.tuples(st.just("truncate"), NAMES, SHARES, st.none()),
    st.tuples(st.just("replace"), NAMES, logs(), st.none()),
    st.tuples(st.just("edit"), NAMES, SHARES, st.sampled_from((b"{", b"a", b"\n", b'"', b"0000000b", b" "))),
    st.tuples(st.just("touch"), NAMES, st.none(), st.none()),
    st.tuples(st.just("move"), NAMES, NAMES, st.none()),
    st.tuples(st.just("delete"), NAMES, st.none(), st.none()),
)


def apply(made: World, change: tuple[str, str, Any, Any], update: Callable[[], object]) -> None:
    """Do one thing to the logs; what is appended comes in pieces, with an update after each."""
    what, name, detail, more = change
    path = made.path(name)
    if what == "append":
        cuts = sorted(int(share * len(detail)) for share in more)
        for start, end in zip([0, *cuts], [*cuts, len(detail)], strict=True):
            made.append(name, detail[start:end])
            update()
        return
    if not os.path.exists(path):
        return
    with open(path, "rb") as log:
        data = log.read()
    at = int(detail * len(data)) if isinstance(detail, float) else 0
    if what == "truncate":
        made.write(name, data[:at])
    elif what == "replace":
        made.replace(name, detail)
    elif what == "edit" and at < len(data):
        made.write(name, (data[:at] + more + data[at + len(more) :])[: len(data)])
    elif what == "touch":
        made.touch(name)
    elif what == "move" and detail != name:
        made.move(name, detail)
    elif what == "delete":
        made.delete(name)


@settings(max_examples=120)
@given(steps=st.lists(st.tuples(changes, st.sampled_from(("update", "search", "nothing"))), min_size=1, max_size=6))
def test_any_sequence_of_updates_equals_one_rebuild(steps: list[tuple[Any, str]]) -> None:
    """Whatever happens to the logs and whenever the index catches up, the end is what one rebuild gives."""
    with world() as made:
        for change, then in steps:
            event(change[0])

            def update(then: str = then) -> None:
                if then != "nothing":
                    made.update(thorough=then == "update")

            apply(made, change, update)
            update()
        made.update()
        compare_with_rebuild(made)


@settings(max_examples=60)
@given(data=logs(most=30), patience=st.integers(3, 7))
def test_an_update_that_is_cut_short_goes_on_where_it_stopped(data: bytes, patience: int) -> None:
    """An update that runs out of time again and again loses nothing and takes in nothing twice."""
    with world() as made:
        made.write("s", data)
        with made.index() as db, pytest.MonkeyPatch.context() as patch:
            patch.setattr("index.catching_up._PIECE_BYTES", 1)
            for _ in range(200):
                looks = iter([False] * patience)
                if not catch_up(db, lags(db, made.files()), expired=partial(next, looks, True)).behind:
                    break
            else:
                pytest.fail("never done")
        compare_with_rebuild(made)


@settings(max_examples=200)
@given(data=logs(most=25))
def test_ancestry_is_the_path_of_the_outline(data: bytes) -> None:
    """For every leaf, the intervals of the index hold exactly the entries from the root to it."""
    with world() as made:
        path = made.write("s", data if data.endswith(b"\n") else data + b"\n")
        made.update()
        tree = outline(path)
        with made.index() as db:
            row = sessions(db)[path]
            offsets = dict(rows(db, "select rid, off from entry"))
            assert [offset for _, offset in sorted(offsets.items())] == [node.offset for node in tree.entries]
            assert row.last_id == tree.leaf
            for identity in tree.by_id:
                leaf = rid_of(db, row.sid, id_key(identity))
                assert leaf is not None
                held = [offsets[rid] for low, high in ancestry(db, leaf) for rid in range(low, high + 1)]
                assert sorted(held) == sorted(node.offset for node in tree.path_to(identity)), identity


@pytest.mark.parametrize("cut", range(0, 120, 7))
def test_a_torn_tail_that_is_completed_later_is_indexed_once(made: World, cut: int) -> None:
    """Half a line is neither damage nor an entry; completed it is one entry, wherever it was torn."""
    whole = lines(header(identity="s"), *talk(3, about("about tapirs")))
    torn = whole.rindex(b"\n", 0, -1) + 1 + cut
    made.write("s", whole[:torn])
    counters = made.update()
    assert (counters.entries_added, counters.quarantined) == (2, ())
    assert made.search("tapirs")["status"] == "complete"
    made.append("s", whole[torn:])
    assert made.update().entries_added == 1
    assert sorted(made.found("tapirs", limit=12)) == ["00000001", "00000002", "00000003"]
    compare_with_rebuild(made)


def test_pieces_cut_between_any_two_bytes_give_the_same_index(made: World) -> None:
    """A log that arrives byte by byte gives the index of the whole."""
    whole = lines(header(identity="s"), *talk(2, about("数据库")))
    for at in range(len(whole)):
        made.append("s", whole[at : at + 1])
        if at % 13 == 0 or at > len(whole) - 30:
            made.update(thorough=False)
    made.update()
    compare_with_rebuild(made)
    with made.index() as db:
        assert [rid - first_rid(1) for (rid,) in rows(db, "select rid from entry")] == [1, 2]
