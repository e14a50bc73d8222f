"""The kit that stands for bad days must itself be right: what it loses, tears and refuses is what a machine would."""

import errno
import os

import pytest
from faults import CountingFiles, Crash, CrashingFiles, FailingFiles, ForgetfulFiles, scratch

from foundation.durable import write_atomically


def content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def test_a_name_that_was_not_synced_may_be_lost_or_not() -> None:
    """A new file is there after the cut only if its folder was synced, or by luck."""
    for synced, kept, there in ((False, [], False), (False, [0], True), (True, [], True)):
        with scratch() as root:
            disk, path = ForgetfulFiles(root), os.path.join(root, "file")
            disk.create(path, b"x")
            if synced:
                disk.fsync_folder(root)
            disk.cut(frozenset(kept))
            assert os.path.exists(path) == there


def test_changes_may_come_through_out_of_order() -> None:
    """A later one without an earlier one; but a rename is one change, never a half one."""
    with scratch() as root:
        disk = ForgetfulFiles(root)
        one, two, three = (os.path.join(root, name) for name in ("one", "two", "three"))
        disk.create(one, b"1")
        disk.create(two, b"2")
        disk.replace(two, three)
        assert len(list(disk.outcomes())) == 8
        disk.cut(frozenset([2]))
        assert os.listdir(root) == ["three"]
        assert content(three) == b"2"


def test_what_was_replaced_or_removed_comes_back() -> None:
    """With its bytes and its time, and hard links stay hard links."""
    with scratch() as root:
        path, other = os.path.join(root, "file"), os.path.join(root, "other")
        write_atomically(CountingFiles(), path, b"old")
        os.utime(path, ns=(5, 5))
        os.link(path, other)
        disk = ForgetfulFiles(root)
        write_atomically(disk, path, b"new")
        disk.unlink(other)
        disk.cut()
        assert content(path) == b"new"
        assert content(other) == b"old"
        disk.unlink(path)
        disk.unlink(other)
        disk.cut()
        assert (content(path), content(other)) == (b"new", b"old")
        assert os.stat(other).st_mtime_ns == 5


def test_a_folder_that_is_lost_takes_along_what_is_in_it() -> None:
    """Syncing a file's folder does not help where the folder itself has no durable name."""
    with scratch() as root:
        disk, folder = ForgetfulFiles(root), os.path.join(root, "a", "b")
        disk.make_folder(folder)
        disk.create(os.path.join(folder, "file"), b"x")
        disk.fsync_folder(folder)
        disk.cut()
        assert os.listdir(root) == []


def test_bytes_and_times_that_were_not_synced_are_lost() -> None:
    """A file written over, and a time that was set, are as they were; syncing keeps them."""
    with scratch() as root:
        path = os.path.join(root, "file")
        CountingFiles().create(path, b"old")
        os.utime(path, ns=(5, 5))
        for sync, data, time in ((False, b"old", 5), (True, b"new", 9)):
            disk = ForgetfulFiles(root)
            disk.overwrite(path, b"new")
            disk.set_times(path, modified_ns=9)
            if sync:
                disk.fsync_file(path)
            assert disk.unsynced != sync
            disk.cut()
            assert (content(path), os.stat(path).st_mtime_ns) == (data, time)


def test_what_others_write_meanwhile_stays() -> None:
    """Other programs change files by themselves; a cut takes back only what went through the kit."""
    with scratch() as root:
        path, theirs = os.path.join(root, "file"), os.path.join(root, "theirs")
        disk = ForgetfulFiles(root)
        disk.create(path, b"x")
        disk.fsync_folder(root)
        for name in (path, theirs):
            with open(name, "ab") as file:
                file.write(b"y")
        disk.cut()
        assert (content(path), content(theirs)) == (b"xy", b"y")


def test_a_dead_process_has_no_effect() -> None:
    """Not even in what runs to tidy up."""
    with scratch() as root:
        disk = CrashingFiles(2, "torn")
        disk.create(os.path.join(root, "one"), b"1")
        with pytest.raises(Crash):
            disk.create(os.path.join(root, "two"), b"1234")
        with pytest.raises(Crash):
            disk.unlink(os.path.join(root, "two"))
        assert content(os.path.join(root, "two")) == b"12"
        assert disk.names == ["create", "create"]


def test_errors_come_once_or_from_then_on() -> None:
    """Counted over all effects, or over those of one name."""
    with scratch() as root:
        once, lasting = FailingFiles(2, errno.EIO), FailingFiles(1, errno.EIO, only="unlink", lasting=True)
        outcomes = []
        for disk in (once, lasting):
            for act, name in ((disk.make_folder, "folder"), (disk.unlink, "file")) * 2:
                try:
                    act(os.path.join(root, name))
                    outcomes.append(True)
                except OSError:
                    outcomes.append(False)
        assert outcomes == [True, False, True, True, True, False, True, False]
