"""What is kept beside the ledger counts only for the very file that it was made of, and says what replaying would say."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from remembering import FOLD, facts

from foundation.durable import RealFiles
from memory import changing, ledger, projecting
from memory.batches import Batch, rewritten
from memory.changing import Site
from memory.model import Change, NameDigest, Removal
from memory.seeing import sight_of
from memory.sight import Sight

DISK = RealFiles()


def no_key(_key_id: str, _name: str) -> str:
    """Sign nothing."""
    return ""


def written(folder: Path, *rows: Removal) -> Sight:
    """Write a ledger, and keep what decides."""
    data = rewritten([Batch(5, Change(removals=(row,))) for row in rows])
    changing.write(Site(str(folder), DISK, lambda _: None, lambda: None), data)
    sight = sight_of(ledger.load(str(folder)), no_key, now=10, fold=FOLD)
    projecting.keep(DISK, str(folder), sight, now=10)
    return sight


NAME = Removal("rm_1", "name", "acme", "Acme", 5, keys=("acme",), in_parts=True)
GONE = Removal("rm_2", "session", "s", "", 5, permanent=True)


def test_it_says_what_replaying_says(tmp_path: Path) -> None:
    """Names, parts, sessions, digests: all of it comes back."""
    hashed = Removal(
        "rm_3", "name", "rm_3", "deleted name #1", 5, permanent=True, digests=(NameDigest("d", "k", 1, 0, 1),)
    )
    assert projecting.kept(str(tmp_path / "p"), now=11) is None
    sight = written(tmp_path / "p", NAME, GONE, hashed)
    assert projecting.kept(str(tmp_path / "p"), now=11) == sight


def test_another_file_is_replayed(tmp_path: Path) -> None:
    """A ledger that was touched in any way, a kept file that is damaged, a clock that went back: nothing is believed."""
    folder = str(tmp_path / "p")
    written(tmp_path / "p", NAME)
    path, kept = os.path.join(folder, ledger.FILE), os.path.join(folder, projecting.PROJECTION)
    assert projecting.kept(folder, now=9) is None
    data = Path(path).read_bytes()
    Path(path).write_bytes(data)
    assert projecting.kept(folder, now=11) is None
    for damage in (b"", b"{", b"[]", b'{"v":1}', b"\xff"):
        written(tmp_path / "p", NAME)
        Path(kept).write_bytes(damage)
        assert projecting.kept(folder, now=11) is None


def test_a_fact_that_begins_or_ends_changes_it_by_itself(tmp_path: Path) -> None:
    """Until then it counts, and not after."""
    folder = str(tmp_path / "p")
    _, batches = facts(("owner", "meets", "Acme"), at=5)
    (claim,) = batches[0].change.statements[-1:]
    ended = Change(statements=(claim._replace(valid_to=50),), removals=(NAME,))
    changing.write(Site(folder, DISK, lambda _: None, lambda: None), rewritten([*batches, Batch(6, ended)]))
    sight = sight_of(ledger.load(folder), no_key, now=10, fold=FOLD)
    projecting.keep(DISK, folder, sight, now=10)
    assert sight.names.anywhere == []
    assert projecting.kept(folder, now=49) == sight
    assert projecting.kept(folder, now=50) is None
    assert sight_of(ledger.load(folder), no_key, now=50, fold=FOLD).names.anywhere == ["acme"]


def test_an_empty_ledger_is_an_empty_memory(tmp_path: Path) -> None:
    """As that of a folder is that was only begun."""
    (tmp_path / ledger.FILE).write_bytes(b"")
    assert ledger.load(str(tmp_path)).removals == {}


@given(st.lists(st.text(min_size=1, max_size=8), max_size=6))
def test_any_names_come_back(names: list[str]) -> None:
    """Whatever characters are in them, half ones too."""
    import tempfile

    with tempfile.TemporaryDirectory() as root:
        rows = [Removal(f"rm_{n}", "name", name, name, 5, keys=(name,)) for n, name in enumerate(names)]
        sight = written(Path(root) / "p", *rows)
        assert projecting.kept(str(Path(root) / "p"), now=11) == sight
