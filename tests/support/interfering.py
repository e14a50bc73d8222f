"""What others do to the files of a rebase while it runs or lies there crashed, and how things stand afterwards."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from deliveries import look
from faults import Effect, WatchedFiles
from logs import header, lines
from rebases import OPERATION, Rebase, conversation
from rebasing import say

from journal.keys import Keys
from journal.lifecycle import Record
from journal.records import encode
from rebase import plan as planning
from rebase.facts import Facts
from rebase.plan import Plan

OTHER_KEYS = Keys("fedcba9876543210", b"o" * 32)

Interfere = Callable[[Rebase], object]


def targets(rebase: Rebase) -> list[str]:
    """Give the sessions in the folder that were made by a rebase."""
    paths = [rebase.path(name) for name in os.listdir(rebase.root) if name.endswith(".jsonl")]
    return [path for path in paths if b"parentSession" in look(path).data.split(b"\n", 1)[0]]


# --- the source -----------------------------------------------------------------------------------------------------


def source_grows(rebase: Rebase) -> None:
    """Go on in the source as Pi does."""
    say(rebase.source, 900, "one thing more")


def source_is_copied_and_edited(rebase: Rebase) -> None:
    """Somebody keeps a copy beside it, and changes the session: the copy does not stand for it."""
    shutil.copy(rebase.source, rebase.path("backup.jsonl"))
    source_is_edited(rebase)


def source_is_edited(rebase: Rebase) -> None:
    """Put another word of the same length into an earlier line of the source, whose time stays."""
    _patch(rebase.source, b"in grams", b"in pound")


def source_is_truncated(rebase: Rebase) -> None:
    """Cut off the last line of the source."""
    with _times_kept(rebase.source), open(rebase.source, "rb+") as file:
        data = file.read().rstrip(b"\n")
        file.truncate(data.rindex(b"\n") + 1)


def source_is_replaced(rebase: Rebase) -> None:
    """Put another session in the place of the source."""
    with _times_kept(rebase.source):
        os.unlink(rebase.source)
        _write_another(rebase.source)


def source_is_deleted(rebase: Rebase) -> None:
    """Delete the source."""
    os.unlink(rebase.source)


def source_is_deleted_beside_another(rebase: Rebase) -> None:
    """Delete the source where another session lies beside it, which is not taken for it."""
    os.unlink(rebase.source)
    _write_another(rebase.path("another.jsonl"))


def source_is_renamed(rebase: Rebase) -> None:
    """Give the source another name in its folder."""
    fresh = rebase.path("renamed.jsonl")
    os.rename(rebase.source, fresh)
    rebase.source = fresh


def source_is_renamed_and_replaced(rebase: Rebase) -> None:
    """Give the source another name, and its own to another session."""
    old = rebase.source
    source_is_renamed(rebase)
    _write_another(old)


# --- the target and what is staged ----------------------------------------------------------------------------------


def target_is_continued(rebase: Rebase) -> None:
    """Go on in the target as Pi does."""
    say(targets(rebase)[0], 901, "going on here")


def target_is_edited(rebase: Rebase) -> None:
    """Change some bytes of the target, whose time stays."""
    _patch(targets(rebase)[0], b"in grams", b"in pound")


def target_is_deleted(rebase: Rebase) -> None:
    """Delete the target."""
    os.unlink(targets(rebase)[0])


def staged_bytes_change(rebase: Rebase) -> None:
    """Change some bytes of what is staged."""
    _patch(_staged(rebase), b"in grams", b"in pound")


def staged_bytes_go(rebase: Rebase) -> None:
    """Delete what is staged."""
    os.unlink(_staged(rebase))


def _staged(rebase: Rebase) -> str:
    return rebase.path(f".{OPERATION}.tmp")


# --- the journal and the lock ---------------------------------------------------------------------------------------


def journal_is_torn(rebase: Rebase) -> None:
    """Cut the record in half."""
    with open(record_file(rebase), "rb+") as file:
        file.truncate(len(file.read()) // 2)


def journal_is_edited(rebase: Rebase) -> None:
    """Change a fact in the record."""
    fields: dict[str, Any] = json.loads(look(record_file(rebase)).data)
    fields["facts"]["sourceSize"] += 1
    with open(record_file(rebase), "w", encoding="utf-8") as file:
        json.dump(fields, file)


def journal_is_deleted(rebase: Rebase) -> None:
    """Delete the record."""
    os.unlink(record_file(rebase))


def journal_is_signed_by_another(rebase: Rebase) -> None:
    """Let another installation sign what the record says."""
    record = rebase.record()
    assert isinstance(record, Record)
    with open(record_file(rebase), "wb") as file:
        file.write(encode(record, OTHER_KEYS))


def lock_is_deleted(rebase: Rebase) -> None:
    """Delete the lock file."""
    os.unlink(rebase.path(".ds4-rebase", "lock"))


def record_file(rebase: Rebase) -> str:
    """Give the path of the record."""
    return rebase.path(".ds4-rebase", "operations", f"{OPERATION}.json")


class Shutting(WatchedFiles):
    """Lets nothing below the folder `shut` change, as soon as there is one."""

    shut = ""

    def perform(self, effect: Effect) -> None:
        """Refuse what would change something there; to sync it is no change."""
        if self.shut and effect.path.startswith(self.shut + os.sep) and not effect.name.startswith("fsync"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), effect.path)
        effect.act()


def journal_is_read_only(rebase: Rebase) -> None:
    """Let nobody write in the folder of the records any more."""
    assert isinstance(rebase.disk, Shutting)
    rebase.disk.shut = rebase.path(".ds4-rebase", "operations")


def key_is_another(rebase: Rebase) -> None:
    """Give this installation another key."""
    rebase.keys = OTHER_KEYS


def setting_changes(rebase: Rebase) -> None:
    """Set another budget."""
    rebase.values = rebase.values | {"sessionRebase.checkpointTargetTokens": 9_000}


def composer_changes(rebase: Rebase) -> None:
    """Compose as another version of the product does."""
    _plan_by(rebase, composer="2")


def rules_change(rebase: Rebase) -> None:
    """Redact as another version of the product does."""
    _plan_by(rebase, rules="none")


def _plan_by(rebase: Rebase, **other: str) -> None:
    with_ours = rebase.replan

    def replan(facts: Facts, source: str) -> Plan:
        with patch.object(planning, "VERSIONS", planning.VERSIONS.model_copy(update=other)):
            return with_ours(facts, source)

    rebase.replan = replan  # type: ignore[method-assign]


def _patch(path: str, old: bytes, new: bytes) -> None:
    """Write over some bytes in place, and leave the time as it was."""
    with _times_kept(path), open(path, "rb+") as file:
        file.seek(file.read().index(old))
        file.write(new)


def _write_another(path: str) -> None:
    with open(path, "wb") as file:
        file.write(lines(header(identity="another"), *conversation(3)))


@contextmanager
def _times_kept(path: str) -> Iterator[None]:
    times = os.stat(path)
    yield
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
