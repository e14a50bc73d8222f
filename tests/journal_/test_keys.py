"""One key for an installation; what it signs is told apart by purpose, and from what others signed."""

import os
import stat
from pathlib import Path

import pytest
from faults import MOMENTS, CountingFiles, Crash, CrashingFiles, ForgetfulFiles, When, scratch
from hypothesis import given
from hypothesis import strategies as st

from foundation.durable import RealFiles
from foundation.errors import ContextError
from journal.keys import KEY_FILE, Keys, judge, load_keys, own_keys, sign

OURS, OTHERS = Keys("a" * 16, b"1" * 32), Keys("b" * 16, b"2" * 32)


def constant(count: int) -> bytes:
    """Stand in for the system's source of randomness."""
    return b"z" * count


def test_a_key_is_made_once_and_for_the_owner_alone(tmp_path: Path) -> None:
    """A second call reads what the first one made; nobody else may read it."""
    folder = tmp_path / "own" / "keys"
    assert load_keys(os.fspath(folder)) is None
    first = own_keys(os.fspath(folder), RealFiles(), os.urandom)
    assert own_keys(os.fspath(folder), RealFiles(), os.urandom) == first == load_keys(os.fspath(folder))
    assert len(first.secret) == 32
    assert stat.S_IMODE((folder / KEY_FILE).stat().st_mode) == 0o600
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent)} == {0o700}


def test_the_key_itself_is_never_shown() -> None:
    """Neither in the text of the value nor by its id."""
    assert "111" not in repr(OURS)
    with scratch() as root:
        keys = own_keys(os.path.join(root, "own", "keys"), RealFiles(), constant)
    assert keys.secret.hex()[:8] not in keys.key_id
    assert len(keys.key_id) == 16


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_damaged_key_is_refused_and_kept(tmp_path: Path, size: int) -> None:
    """A new one would make everything that was signed look foreign; that is the owner's to decide."""
    (tmp_path / KEY_FILE).write_bytes(b"x" * size)
    with pytest.raises(ContextError) as refused:
        load_keys(os.fspath(tmp_path))
    assert refused.value.code == "key-damaged"
    with pytest.raises(ContextError) as refused:
        own_keys(os.fspath(tmp_path), RealFiles(), os.urandom)
    assert refused.value.code == "key-damaged"
    assert (tmp_path / KEY_FILE).read_bytes() == b"x" * size


@pytest.mark.parametrize("when", MOMENTS)
def test_a_crash_anywhere_leaves_no_half_key(when: When) -> None:
    """Afterwards there is none, or a whole one, and the next process has one; nothing half stays."""
    number, crashed = 0, True
    while crashed:
        number += 1
        with scratch() as root:
            folder, crashed = os.path.join(root, "own", "keys"), False
            try:
                own_keys(folder, CrashingFiles(number, when), constant)
            except Crash:
                crashed = True
            made = load_keys(folder)
            keys = own_keys(folder, RealFiles(), os.urandom)
            assert made in (None, keys)
            assert sorted(os.listdir(folder)) == [KEY_FILE, "lock"]
    assert number > 8


@pytest.mark.parametrize("when", ["before", "torn"])
def test_a_key_that_was_given_survives_a_power_cut(when: When) -> None:
    """Also one that a process made which died before it was durable: what it signed must not become foreign."""
    number, crashed = 0, True
    while crashed:
        number, choice, ways = number + 1, 0, 1
        while choice < ways:
            with scratch() as root:
                folder, disk, crashed = os.path.join(root, "own", "keys"), ForgetfulFiles(root), False
                try:
                    own_keys(folder, CrashingFiles(number, when, disk), os.urandom)
                except Crash:
                    crashed = True
                given_out = own_keys(folder, disk, os.urandom)
                outcomes = list(disk.outcomes())
                disk.cut(outcomes[choice])
                assert load_keys(folder) == given_out
                choice, ways = choice + 1, len(outcomes)


def test_a_random_source_that_gives_too_little_makes_no_key(tmp_path: Path) -> None:
    """A short key is never used."""
    with pytest.raises(ContextError, match="no key any more"):
        own_keys(os.fspath(tmp_path), RealFiles(), lambda _: b"short")


def test_reading_a_key_syncs_once(tmp_path: Path) -> None:
    """A key that is there costs one effect."""
    own_keys(os.fspath(tmp_path), RealFiles(), os.urandom)
    disk = CountingFiles()
    own_keys(os.fspath(tmp_path), disk, os.urandom)
    assert disk.names == ["fsync_folder"]


@given(st.binary(max_size=100), st.sampled_from(["journal", "lineage", "ledger"]))
def test_what_we_signed_is_good_for_its_purpose_only(data: bytes, purpose: str) -> None:
    """The same bytes for another purpose, other bytes or another key are not."""
    mac = sign(OURS, purpose, data)
    assert judge(OURS, purpose, data, OURS.key_id, mac) == "good"
    assert judge(OURS, purpose + "x", data, OURS.key_id, mac) == "forged"
    assert judge(OURS, purpose, data + b"x", OURS.key_id, mac) == "forged"
    assert judge(OTHERS, purpose, data, OURS.key_id, mac) == "foreign"
    assert judge(None, purpose, data, OURS.key_id, mac) == "foreign"
    assert judge(OURS, purpose, data, "", mac) == judge(OURS, purpose, data, OURS.key_id, "") == "unsigned"


@pytest.mark.parametrize("mac", ["ä", "\ud800", "0" * 63, "x"])
def test_any_text_for_a_mac_is_judged(mac: str) -> None:
    """Nothing that a file says makes judging fail."""
    assert judge(OURS, "journal", b"x", OURS.key_id, mac) == "forged"


def test_the_derivation_stays_what_it_is() -> None:
    """Signatures must hold over versions: these were made when the form was fixed."""
    assert sign(OURS, "journal", b"x") == "9bfa159666c1e4c90927b981596ea6e47ced5dba05f4e188dd89820f18687a92"
    with scratch() as root:
        assert own_keys(root, RealFiles(), constant).key_id == "8f1d2d85c1984f45"
