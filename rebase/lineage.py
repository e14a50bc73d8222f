"""Where a rebased session came from: its own link, proved from its own file, and each source, proved by its bytes.

The checkpoint is signed and lists all sources that were known when it was made, so the loss of one ancestor degrades
that one and no other. What was proved once is remembered by what the file system says of the file, and proved again
when any of that changes; the memory is a value that the caller keeps.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from foundation.errors import ContextError
from foundation.marks import CHECKPOINT_TYPE, HANDOFF_TYPE, LINK_TYPE
from rebase.checkpoint import Block, Checkpoint, Origin, read_checkpoint, read_link
from rebase.framing import parse
from rebase.sealing import Verify, digest, judged, text_digest
from rebase.source import Source
from sessions import fingerprint
from sessions.context import Reader
from sessions.decoding import slow_parse
from sessions.entries import CURRENT, Header, header
from sessions.loading import Loaded, Step
from sessions.reading import open_log, records

Locate = Callable[[Origin], Iterable[str]]
"""Gives the files that may be a source: those with its session id, the likeliest first."""

FileState = tuple[int, int, int, int, int, int, str]
"""Device, inode, size, and times of change of bytes and of inode; and the prefix it was held against: size, SHA-256."""

Proved = Mapping[FileState, bool]
"""What was proved before: whether a file in a certain state has a certain prefix."""

VERIFIED, MISSING, CHANGED = "verified", "source-missing", "source-changed"
"""How a generation stands."""

_HEAD_RECORDS = 32
_DISAGREE = "Link, checkpoint and handoff of the session do not agree."
_REASONS = {
    "unsigned": "The link is not signed, though this installation signs its links.",
    "foreign": "The link was signed by another installation.",
    "forged": "The link is not what was signed.",
}


class Own(NamedTuple):
    """The link of a session: its checkpoint, and which entry is its handoff."""

    checkpoint: Checkpoint
    handoff_id: str

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Give the messages that the handoff quotes."""
        return self.checkpoint.blocks

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Give all sources, the nearest first."""
        return (self.checkpoint.source, *self.checkpoint.ancestors)


class Generation(NamedTuple):
    """One source of a rebased session; `file` is where it was found, empty unless it is verified."""

    origin: Origin
    file: str
    state: str


class Lineage(NamedTuple):
    """The sources of a session, the nearest first, and what is to be remembered of proving them."""

    generations: tuple[Generation, ...]
    proved: Proved


def own_link(source: Source, verify: Verify) -> Own | None:
    """Give the link of a session's branch, proved from its own file; None where the branch has none.

    Raises ContextError with `lineage-unverified` where link, checkpoint and handoff do not agree or are not ours.
    """
    kinds = source.skimmed.custom_types
    ours = {place for place, kind in kinds.items() if kind in (CHECKPOINT_TYPE, LINK_TYPE, HANDOFF_TYPE)}
    path = [place for place in source.path if place in ours] if ours else []
    return own_link_on(source.reader, [source.step(place) for place in path], [kinds[place] for place in path], verify)


def head_link(file: str, verify: Verify) -> Own | None:
    """Give the link with which a session begins, reading no further than its handoff; None where it begins with none.

    For recall, which cannot read a whole session for every question. Whoever asks has to know that the handoff is an
    ancestor of the leaf. Raises ContextError as `own_link` does, and what `open_log` raises.
    """
    steps: list[Step] = []
    kinds: list[str] = []
    with open_log(file) as log:
        found: Header | None = None
        for record in islice(records(log), _HEAD_RECORDS):
            value = record.value or {}
            found = found or header(value)
            kind = value.get("customType")
            if kind in (CHECKPOINT_TYPE, LINK_TYPE, HANDOFF_TYPE):
                identity = value.get("id")
                name = identity if isinstance(identity, str) else ""
                steps.append(Step(name, name, None, "custom", record.offset, record.length))
                kinds.append(kind)
            if kind == HANDOFF_TYPE:
                break
        if found is None or found.version != CURRENT:
            return None
        return own_link_on(Reader(log, Loaded(found, steps, []), slow_parse), steps, kinds, verify)


def own_link_on(reader: Reader, path: Sequence[Step], custom_types: Sequence[str], verify: Verify) -> Own | None:
    """Do the same for any branch, given as those of its steps that have a custom type, and these types."""
    links = [at for at, kind in enumerate(custom_types) if kind == LINK_TYPE]
    if not links:
        if CHECKPOINT_TYPE in custom_types or HANDOFF_TYPE in custom_types:
            raise ContextError("lineage-unverified", "The session has a handoff or a checkpoint, but no link.")
        return None
    at = links[-1]
    before = [place for place in range(at) if custom_types[place] == CHECKPOINT_TYPE]
    after = [place for place in range(at, len(path)) if custom_types[place] == HANDOFF_TYPE]
    if not before or not after:
        raise ContextError("lineage-unverified", "The session has a link, but no checkpoint or no handoff to it.")
    link_data = reader.value(path[at]).get("data")
    data = reader.value(path[before[-1]]).get("data")
    text = reader.value(path[after[0]]).get("content")
    try:
        checkpoint = _agreed(link_data, data, text, verify)
    except (ValueError, RecursionError) as error:  # what cannot even be written was never signed
        raise ContextError("lineage-unverified", _DISAGREE) from error
    return Own(checkpoint, path[after[0]].id or "")


def _agreed(link_data: Any, data: Any, text: Any, verify: Verify) -> Checkpoint:
    """Hold link, checkpoint and handoff against each other and against their MACs, and give the checkpoint."""
    link, checkpoint = read_link(link_data), read_checkpoint(data)
    for purpose, record in (("link", link_data), ("checkpoint", data)):
        verdict = judged(purpose, record, verify)
        if verdict == "forged":
            hint = "Restore the session from a backup; what was forged is never adopted."
            raise ContextError("lineage-unverified", _REASONS[verdict], hint=hint)
        if verdict != "good":
            raise ContextError("lineage-unverified", _REASONS[verdict])
    if (
        link.source != checkpoint.source
        or link.operationId != checkpoint.operationId
        or link.checkpointSha256 != digest(data)
        or not isinstance(text, str)
        or text_digest(text) != link.handoffSha256
        or link.handoffSha256 != checkpoint.handoff.sha256
        or not _quotes(text, checkpoint)
    ):
        raise ContextError("lineage-unverified", _DISAGREE)
    return checkpoint


def generations(origins: Sequence[Origin], locate: Locate, proved: Proved) -> Lineage:
    """Prove each source by the bytes of its file; what was proved for a file in the same state is not read again."""
    found: list[Generation] = []
    fresh: dict[FileState, bool] = {}
    for origin in origins:
        state, file = MISSING, ""
        for path in locate(origin):
            holds = _holds(path, origin, proved, fresh)
            if holds:
                state, file = VERIFIED, path
                break
            state = MISSING if holds is None else CHANGED
        found.append(Generation(origin, file, state))
    return Lineage(tuple(found), fresh)


def sourceless(own: Own) -> bytes:
    """Name a link for the owner's word that it counts without the source that it is of."""
    return f"sourceless\n{own.checkpoint.operationId}\n{own.checkpoint.handoff.sha256}".encode()


def check_nearest(lineage: Lineage, *, may_be_missing: bool) -> list[str]:
    """Refuse where the nearest source does not hold, and give warnings for older ones; raises `lineage-unverified`.

    `may_be_missing` tells that the owner knows that it is gone, and goes on all the same.
    """
    if not lineage.generations:
        return []
    nearest, *older = lineage.generations
    if nearest.state == MISSING and may_be_missing:
        return ["lineage-degraded"]
    if nearest.state != VERIFIED:
        what = "is gone" if nearest.state == MISSING else "was changed"
        raise ContextError("lineage-unverified", f"The session that this one continues {what}.")
    return ["lineage-degraded"] if any(generation.state != VERIFIED for generation in older) else []


def _holds(path: str, origin: Origin, proved: Proved, fresh: dict[FileState, bool]) -> bool | None:
    """Tell whether a file begins with the bytes of a source; None where it cannot be read."""
    try:
        with open_log(path) as log:
            known = os.fstat(log.fileno())
            state = (
                known.st_dev,
                known.st_ino,
                known.st_size,
                known.st_mtime_ns,
                known.st_ctime_ns,
                origin.size,
                origin.sha256,
            )
            holds = proved.get(state)
            if holds is None:
                found = fingerprint.prefix(log, origin.size) if known.st_size >= origin.size else None
                holds = found is not None and found.sha256 == origin.sha256
    except (ContextError, OSError):
        return None
    fresh[state] = holds
    return holds


def _quotes(text: str, checkpoint: Checkpoint) -> bool:
    """Tell whether the handoff quotes exactly the blocks of its checkpoint."""
    try:
        quoted = parse(text).messages
    except ValueError:
        return False
    return [tuple(message) for message in quoted] == [
        (block.role, block.classification, block.text) for block in checkpoint.blocks
    ]
