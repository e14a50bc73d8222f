"""A staged file gets its name without overwriting anything, or by a named refusal; folders survive a power cut."""

import errno
import os
import stat
import sys
from collections.abc import Callable

import pytest
from faults import (
    MOMENTS,
    CountingFiles,
    Crash,
    CrashingFiles,
    Effect,
    FailingFiles,
    ForgetfulFiles,
    WatchedFiles,
    When,
    scratch,
)

from foundation.durable import RealFiles, make_durable_folder, publish
from foundation.errors import ContextError

linux_or_mac = pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="no rename without replacing here")


def staged(root: str, data: bytes = b"whole") -> tuple[str, str]:
    """Stage a file; give its name and the one that it should get."""
    path, target = os.path.join(root, "x.staged"), os.path.join(root, "x.jsonl")
    RealFiles().create(path, data)
    RealFiles().fsync_folder(root)
    return path, target


def content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


class Unable(WatchedFiles):
    """A file system that lacks some effects."""

    def __init__(self, **lacking: int) -> None:
        super().__init__()
        self.lacking = lacking

    def perform(self, effect: Effect) -> None:
        """Refuse what is lacking."""
        if effect.name in self.lacking:
            number = self.lacking[effect.name]
            raise OSError(number, os.strerror(number), effect.path)
        super().perform(effect)


WAYS: list[Callable[[], WatchedFiles]] = [
    CountingFiles,
    lambda: Unable(link=errno.EPERM),
    lambda: Unable(link=errno.EOPNOTSUPP),
]


@linux_or_mac
@pytest.mark.parametrize("way", WAYS, ids=["links", "no links", "links unsupported"])
def test_a_staged_file_gets_its_name(way: Callable[[], WatchedFiles]) -> None:
    """By a hard link or, where there are none, by a rename that replaces nothing; the staged name is gone."""
    with scratch() as root:
        path, target = staged(root)
        publish(way(), path, target)
        assert os.listdir(root) == ["x.jsonl"]
        assert content(target) == b"whole"


@linux_or_mac
@pytest.mark.parametrize("way", WAYS, ids=["links", "no links", "links unsupported"])
@pytest.mark.parametrize("taken", ["file", "folder", "dangling link"])
def test_nothing_is_ever_overwritten(way: Callable[[], WatchedFiles], taken: str) -> None:
    """Where the name is taken, be it by a folder or by a link that leads nowhere, both stay as they are."""
    with scratch() as root:
        path, target = staged(root)
        match taken:
            case "file":
                RealFiles().create(target, b"mine")
            case "folder":
                os.mkdir(target)
            case _:
                os.symlink("nowhere", target)
        before = os.lstat(target)
        with pytest.raises(ContextError) as refused:
            publish(way(), path, target)
        assert refused.value.code == "target-exists"
        assert content(path) == b"whole"
        assert os.path.samestat(os.lstat(target), before)


def test_where_neither_way_exists_there_is_a_named_refusal() -> None:
    """No copying instead: that would not be one indivisible step."""
    for number in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        with scratch() as root:
            path, target = staged(root)
            with pytest.raises(ContextError) as refused:
                publish(Unable(link=errno.EPERM, rename_no_replace=number), path, target)
            assert refused.value.code == "install-unsupported"
            assert os.listdir(root) == ["x.staged"]


def test_a_full_disk_is_no_missing_ability() -> None:
    """Other errors go up as they are."""
    with scratch() as root:
        path, target = staged(root)
        with pytest.raises(OSError, match="space"):
            publish(FailingFiles(1, errno.ENOSPC, only="link"), path, target)


def test_a_c_library_without_the_call_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then renaming without replacing is unsupported, and nothing else happens."""
    import ctypes

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    with scratch() as root:
        path, target = staged(root)
        with pytest.raises(OSError, match="not implemented") as raised:
            RealFiles().rename_no_replace(path, target)
        assert raised.value.errno == errno.ENOSYS
        assert os.listdir(root) == ["x.staged"]


@linux_or_mac
@pytest.mark.parametrize("way", WAYS[:2], ids=["links", "no links"])
@pytest.mark.parametrize("when", MOMENTS)
def test_publishing_can_be_repeated_after_a_crash_and_a_power_cut(way: Callable[[], WatchedFiles], when: When) -> None:
    """At every effect, with every loss: the bytes have at least one of both names, and a repetition ends it."""
    number, crashed = 0, True
    while crashed:
        number, choice, ways = number + 1, 0, 1
        while choice < ways:
            with scratch() as root:
                path, target = staged(root)
                machine, crashed = ForgetfulFiles(root), False
                system = way()
                system.inner = CrashingFiles(number, when, machine)
                try:
                    publish(system, path, target)
                except Crash:
                    crashed = True
                outcomes = list(machine.outcomes())
                machine.cut(outcomes[choice])
                assert [name for name in (path, target) if os.path.exists(name)]
                if os.path.exists(path):
                    publish(way(), path, target)
                assert os.listdir(root) == ["x.jsonl"]
                assert content(target) == b"whole"
                choice, ways = choice + 1, len(outcomes)
    assert number >= 3


def test_a_link_that_came_through_and_was_reported_as_failed_counts() -> None:
    """As network file systems do it: the name is there, and it is ours."""
    with scratch() as root:
        path, target = staged(root)
        publish(FailingFiles(1, errno.EPERM, only="link", late=True), path, target)
        assert os.listdir(root) == ["x.jsonl"]


def test_folders_are_brought_to_the_disk_with_the_names_above() -> None:
    """Also those that are there already, for their maker may have died."""
    for _ in range(2):
        with scratch() as root:
            disk = ForgetfulFiles(root)
            deep = os.path.join(root, "a", "b")
            if _:
                disk.make_folder(deep)
            make_durable_folder(disk, deep, levels=2)
            disk.cut()
            assert os.path.isdir(deep)
            assert stat.S_IMODE(os.stat(deep).st_mode) == 0o700


def test_times_are_set_to_the_nanosecond() -> None:
    """So that a file can be made older than another one."""
    with scratch() as root:
        path, _ = staged(root)
        RealFiles().set_times(path, modified_ns=1_795_161_600_123_456_789)
        assert os.stat(path).st_mtime_ns == 1_795_161_600_123_456_789


def test_only_an_empty_folder_is_removed() -> None:
    """One that holds something, or is gone, is no error; a file is."""
    with scratch() as root:
        path, _ = staged(root)
        RealFiles().remove_folder(root)
        assert os.path.exists(path)
        os.mkdir(os.path.join(root, "empty"))
        for _ in range(2):
            RealFiles().remove_folder(os.path.join(root, "empty"))
        assert not os.path.exists(os.path.join(root, "empty"))
        with pytest.raises(NotADirectoryError):
            RealFiles().remove_folder(path)
