"""The steps of a rebase, each with one effect that it looks for before it has it: so to recover is to run again.

Bytes are staged under a name that nobody reads, then given the target's name without ever overwriting. The target is
older than its source until it is activated, so whoever continues the newest session continues the source.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from foundation.durable import Files, publish, withdraw
from foundation.errors import ContextError
from journal.lifecycle import Course, Fact, Record
from journal.operations import GoneError, HopelessError, Step, Work
from rebase.facts import Facts, facts_of, of_target
from rebase.lineage import head_link
from rebase.looking import Found, State, find_source, find_target, look
from rebase.plan import Plan
from rebase.sealing import Signer, Verify, text_digest
from rebase.target import Target, compose
from sessions.context import resolve

COURSE = Course(
    "session-rebase",
    ("Prepared", "ArchiveVerified", "CheckpointReady", "TargetCreated", "Activated", "Verified"),
    committed="Activated",
)

_OLDER_NS = 1_000_000_000  # some file systems tell no less apart than a second or two
_NEWER_NS = 1_000_000

Replan = Callable[[Facts, str], Plan]
"""Plans again what an operation recorded, from the file that its source is in now."""

Activate = Callable[[str, str], None]
"""Makes the first path, the target, the session that is gone on with, and no longer the second, its source."""


class Site(NamedTuple):
    """What the steps work with; `folder` is that of source, target and journal.

    `recovering` tells whether the owner asked for the end of an earlier run: then a source that has grown since is no
    reason to stop once its target is there.
    """

    folder: str
    disk: Files
    signer: Signer
    verify: Verify
    replan: Replan
    activate: Activate
    recovering: bool


def work(site: Site) -> Work:
    """Give the steps of an operation in this place, and how it is undone."""
    steps = (_verify_archive, _stage, _install, _activate, verify_target)
    bound: list[tuple[str, Step]] = [
        (stage, partial(step, site)) for stage, step in zip(COURSE.stages[1:], steps, strict=True)
    ]
    return Work(bound, partial(_undo, site))


def make_newest(disk: Files, target: str, source: str, *, now_ns: int) -> None:
    """Activate in the shell: let the target be the session written last, unless somebody went on in it already."""
    newest = max(os.stat(source).st_mtime_ns + _NEWER_NS, now_ns)
    disk.set_times(target, modified_ns=newest)
    disk.fsync_file(target)


def is_newest(target: str) -> bool:
    """Tell whether no session beside this one was written later: then the shell goes on with it."""
    with os.scandir(os.path.dirname(target)) as found:
        newest = max((each.stat().st_mtime_ns for each in found if each.name.endswith(".jsonl")), default=0)
    return os.stat(target).st_mtime_ns >= newest


def verify_target(site: Site, record: Record) -> dict[str, Fact]:
    """See from the disk alone that target and source are as they should be; raises ContextError where they are not."""
    facts = facts_of(record)
    source, target = find_source(site.folder, facts), find_target(site.folder, facts)
    _need_target(target)
    _need_prefix(source, HopelessError("archive-changed"))
    _need_link(site, record, facts, target)
    return {}


def _verify_archive(site: Site, record: Record) -> dict[str, Fact]:
    _need_source(site, find_source(site.folder, facts_of(record)))
    return {}


def _stage(site: Site, record: Record) -> dict[str, Fact]:
    facts = facts_of(record)
    source = find_source(site.folder, facts)
    _need_source(site, source)
    plan, target = _composed(site, record, facts, source)
    _write_staged(site, record, target)
    return of_target(plan, target)


def _install(site: Site, record: Record) -> dict[str, Fact]:
    facts = facts_of(record)
    target, staged = find_target(site.folder, facts), _staged_path(site, record)
    if target.state == "changed":
        raise ContextError("target-integrity")
    if target.state == "missing":
        source = find_source(site.folder, facts)
        _need_source(site, source)
        if _state_of_staged(site, record, facts) != "same":
            _stage_again(site, record, facts, source)
        site.disk.set_times(staged, modified_ns=os.stat(source.path).st_mtime_ns - _OLDER_NS)
        site.disk.fsync_file(staged)
        publish(site.disk, staged, target.path)
    else:
        _finish_installing(site, staged)
    return {}


def _finish_installing(site: Site, staged: str) -> None:
    """Whoever installed the target may have died before its name was durable or before the staged one went."""
    site.disk.fsync_folder(site.folder)
    site.disk.unlink(staged)
    site.disk.fsync_folder(site.folder)


def _activate(site: Site, record: Record) -> dict[str, Fact]:
    facts = facts_of(record)
    source, target = find_source(site.folder, facts), find_target(site.folder, facts)
    _need_target(target)
    if not site.recovering and source.state == "grown":
        raise ContextError("source-grew")
    _need_prefix(source, HopelessError("archive-changed"))
    _need_link(site, record, facts, target)
    if target.state == "same":  # else somebody went on in it already
        site.activate(target.path, source.path)
    return {}


def _undo(site: Site, record: Record) -> None:
    """Take back what nobody went on in: the staged bytes, and the target where it is ours and just as we made it."""
    facts, staged = facts_of(record), _staged_path(site, record)
    target = find_target(site.folder, facts)
    if target.state == "missing" and _state_of_staged(site, record, facts) == "grown":
        site.disk.rename_no_replace(staged, target.path)  # a crash came while it was taken back, and words before that
        site.disk.fsync_folder(site.folder)
        return
    site.disk.unlink(staged)
    if target.state == "same" and _is_ours(site, record, facts, target):
        withdraw(site.disk, target.path, staged, untouched=lambda: _state_of_staged(site, record, facts) == "same")
    site.disk.fsync_folder(site.folder)


def _is_ours(site: Site, record: Record, facts: Facts, target: Found) -> bool:
    """Tell whether the target is this operation's: a record that was adopted may name any file."""
    try:
        _need_link(site, record, facts, target)
    except ContextError:
        return False
    return True


def _state_of_staged(site: Site, record: Record, facts: Facts) -> State:
    return look(_staged_path(site, record), facts.target_size, facts.target_sha256) if facts.target_file else "missing"


def _composed(site: Site, record: Record, facts: Facts, source: Found) -> tuple[Plan, Target]:
    """Compose the target of the recorded plan, and of no other."""
    plan = site.replan(facts, source.path)
    if plan.plan_id != facts.plan_id or plan.contents is None:
        raise HopelessError("inputs-changed")
    return plan, compose(plan, operation_id=record.operation_id, created_at=record.created_at, signer=site.signer)


def _stage_again(site: Site, record: Record, facts: Facts, source: Found) -> None:
    """Bring back staged bytes that something took away or changed; only the very same."""
    _, target = _composed(site, record, facts, source)
    if target.sha256 != facts.target_sha256:
        raise HopelessError("inputs-changed")
    _write_staged(site, record, target)


def _write_staged(site: Site, record: Record, target: Target) -> None:
    staged = _staged_path(site, record)
    site.disk.unlink(staged)
    site.disk.create(staged, target.data)
    site.disk.fsync_folder(site.folder)


def _staged_path(site: Site, record: Record) -> str:
    return os.path.join(site.folder, f".{record.operation_id}.tmp")


def _need_source(site: Site, source: Found) -> None:
    """Refuse to install anything beside a source that is not what was planned; it is never that again."""
    grown = "source-moved-before-checkpoint" if site.recovering else "source-grew"
    if source.state == "grown":
        raise HopelessError(grown)
    _need_prefix(source, HopelessError("archive-changed"))


def _need_prefix(source: Found, changed: ContextError) -> None:
    if source.state == "missing":
        raise ContextError("source-unavailable")  # it may come back with its disk
    if source.state == "changed":
        raise changed


def _need_target(target: Found) -> None:
    if target.state == "missing":
        raise GoneError("target-missing")
    if target.state == "changed":
        raise ContextError("target-integrity")


def _need_link(site: Site, record: Record, facts: Facts, target: Found) -> None:
    """See that checkpoint, link and handoff are this operation's, signed, and what Pi will send."""
    own = head_link(target.path, site.verify)
    if own is None or own.checkpoint.operationId != record.operation_id or own.checkpoint.planId != facts.plan_id:
        raise ContextError("target-integrity")
    if target.state == "same":
        quoted = [message.get("content") for message in resolve(target.path, leaf=None).messages]
        if [text_digest(str(text)) for text in quoted] != [own.checkpoint.handoff.sha256]:
            raise ContextError("target-integrity")
