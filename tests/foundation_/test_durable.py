"""Files change in one step or not at all, for the owner alone, with their bytes on the disk."""

import errno
import os
import stat
from pathlib import Path

import pytest
from faults import CountingFiles, FailingFiles

from foundation import durable
from foundation.durable import RealFiles, write_atomically


def test_a_file_gets_its_new_contents(tmp_path: Path) -> None:
    """New and existing files hold the bytes afterwards, and nothing else is left in the folder."""
    path = tmp_path / "a" / "b" / "file.json"
    for data in (b"one", b"two" * 100_000, b""):
        write_atomically(RealFiles(), os.fspath(path), data)
        assert path.read_bytes() == data
    assert os.listdir(path.parent) == ["file.json"]


def test_files_and_folders_are_for_the_owner_alone(tmp_path: Path) -> None:
    """No one else may read what we keep, whatever the umask allows."""
    before = os.umask(0)
    try:
        write_atomically(RealFiles(), os.fspath(tmp_path / "new" / "file"), b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new" / "file").stat().st_mode) == 0o600


def test_the_steps_are_in_the_order_that_makes_them_safe(tmp_path: Path) -> None:
    """The bytes are complete before the name changes, and the name is made durable last."""
    files = CountingFiles()
    write_atomically(files, os.fspath(tmp_path / "file"), b"x")
    assert files.names == ["make_folder", "unlink", "create", "replace", "fsync_folder"]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("fail_at", range(1, 6))
def test_a_failure_at_any_step_leaves_the_old_bytes_or_the_new(tmp_path: Path, fail_at: int, *, late: bool) -> None:
    """The error is reported, no half file is ever seen, and the next write succeeds."""
    path = tmp_path / "file"
    write_atomically(RealFiles(), os.fspath(path), b"old")
    with pytest.raises(OSError, match="error"):
        write_atomically(FailingFiles(fail_at, errno.EIO, late=late), os.fspath(path), b"new")
    assert path.read_bytes() in ((b"new",) if (fail_at, late) >= (4, True) else (b"old",))
    write_atomically(RealFiles(), os.fspath(path), b"next")
    assert path.read_bytes() == b"next"
    assert os.listdir(tmp_path) == ["file"]


def test_a_stray_file_of_a_crash_is_cleared_away(tmp_path: Path) -> None:
    """What a crash left under the temporary name does not stop the next write."""
    (tmp_path / "file.new").write_bytes(b"half")
    write_atomically(RealFiles(), os.fspath(tmp_path / "file"), b"whole")
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_never_overwrites_another(tmp_path: Path) -> None:
    """Creating refuses where the name is taken, also by a link."""
    (tmp_path / "taken").write_bytes(b"mine")
    os.symlink(tmp_path / "elsewhere", tmp_path / "link")
    for name in ("taken", "link"):
        with pytest.raises(FileExistsError):
            RealFiles().create(os.fspath(tmp_path / name), b"x")
    assert (tmp_path / "taken").read_bytes() == b"mine"
    assert not (tmp_path / "elsewhere").exists()


def test_a_short_write_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may take fewer bytes than it was given."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data[:3])))
    RealFiles().create(os.fspath(tmp_path / "file"), b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_a_failed_fsync_is_reported_and_not_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failed fsync the bytes may be lost, and asking again would hide it."""
    calls: list[int] = []

    def fail(handle: int) -> None:
        calls.append(handle)
        raise OSError(5, "error")

    monkeypatch.setattr(durable, "fsync", fail)
    with pytest.raises(OSError, match="error"):
        write_atomically(RealFiles(), os.fspath(tmp_path / "file"), b"x")
    assert len(calls) == 1
    assert os.listdir(tmp_path) == []


def test_removing_what_is_gone_is_no_error(tmp_path: Path) -> None:
    """Two processes may clear away the same file."""
    path = tmp_path / "file"
    path.write_bytes(b"x")
    for _ in range(2):
        RealFiles().unlink(os.fspath(path))
    assert not path.exists()
