"""What the record of a rebase says: names of files, sizes, digests and counts, checked before anything relies on them.

A record may have been adopted from another installation, so a file name in it is a name in the folder and nothing else.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from foundation.errors import ContextError
from journal.lifecycle import Fact, Record
from rebase.plan import VERSIONS, Plan
from rebase.target import Target

_Kind = TypeVar("_Kind", str, int, bool)


class Facts(NamedTuple):
    """What was recorded: the plan and the source when it began, the target once its bytes were on the disk.

    File names are those within the folder of the journal; sizes are in bytes. `target_file` is empty, and what belongs
    to it zero or empty, while nothing was staged.
    """

    plan_id: str
    source_session: str
    source_file: str
    source_size: int
    source_sha256: str
    leaf: str
    fitted: bool
    target_file: str
    target_session: str
    target_size: int
    target_sha256: str
    tokens: int


def of_plan(plan: Plan) -> dict[str, Fact]:
    """Give what is recorded when an operation begins."""
    return {
        "planId": plan.plan_id,
        "sourceSession": plan.source.sessionId,
        "sourceFile": plan.source.file,
        "sourceSize": plan.source.size,
        "sourceSha256": plan.source.sha256,
        "leaf": plan.source.leafId,
        "fitted": plan.fitted,
    }


def of_target(plan: Plan, target: Target) -> dict[str, Fact]:
    """Give what is recorded when the bytes of the target are on the disk."""
    return {
        "targetFile": target.file_name,
        "targetSession": target.session_id,
        "targetSize": target.size,
        "targetSha256": target.sha256,
        "tokens": plan.tokens,
    }


def versions() -> dict[str, str]:
    """Give the versions that decide what a target holds."""
    return {name: str(value) for name, value in VERSIONS.model_dump().items()}


def facts_of(record: Record) -> Facts:
    """Read a record. Raises ContextError `journal-damaged` where it is none of a rebase."""
    facts = record.facts
    found = Facts(
        plan_id=_given(facts, "planId", str),
        source_session=_given(facts, "sourceSession", str),
        source_file=_name(_given(facts, "sourceFile", str)),
        source_size=_given(facts, "sourceSize", int),
        source_sha256=_given(facts, "sourceSha256", str),
        leaf=_given(facts, "leaf", str),
        fitted=_given(facts, "fitted", bool),
        target_file=_name(_given(facts, "targetFile", str, "")),
        target_session=_given(facts, "targetSession", str, ""),
        target_size=_given(facts, "targetSize", int, 0),
        target_sha256=_given(facts, "targetSha256", str, ""),
        tokens=_given(facts, "tokens", int, 0),
    )
    if found.target_file == found.source_file or (found.target_file and not found.target_file.endswith(".jsonl")):
        raise ContextError("journal-damaged")
    return found


def _given(facts: Mapping[str, Fact], name: str, kind: type[_Kind], default: _Kind | None = None) -> _Kind:
    value = facts.get(name, default)
    if type(value) is not kind:
        raise ContextError("journal-damaged")
    return value


def _name(name: str) -> str:
    if os.path.basename(name) != name or name in (os.curdir, os.pardir) or "\0" in name:
        raise ContextError("journal-damaged")
    return name
