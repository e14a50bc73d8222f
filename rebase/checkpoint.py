"""The two records of a rebase in their target, checkpoint and link: how they are written, and how they are read.

Reading is a border: a session file can be edited by anybody, so pydantic checks every field strictly.
"""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from foundation.errors import ContextError
from foundation.marks import CHECKPOINT_TYPE, LINK_TYPE
from rebase.framing import Role

UNKNOWN = "unknown"
"""The verification state of everything that a handoff quotes."""

LIMITATIONS = ("text-only", "quoted-not-verified", "no-summary-was-made")

Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Natural = Annotated[int, Field(ge=0, lt=2**53)]
Classification = Literal["normal", "internal", "sensitive", "local-only"]
How = Literal["", "result", "arguments", "turn", "folded"]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", defer_build=True)


class Origin(_Model):
    """A session up to a leaf, as the first `size` bytes of its file; `file` is the name it had, only a hint."""

    sessionId: str
    file: str
    leafId: str
    size: Natural
    sha256: Sha


class Block(_Model):
    """A message as a handoff quotes it.

    `sessionId` is where its entry lies; `bytes` and `sha256` are those of the entry's line, or of the text itself for
    a line that stands for several messages, the entries `entryId` to `lastEntryId`.
    """

    role: Role
    classification: Classification
    sessionId: str
    entryId: str
    lastEntryId: str
    messages: Natural
    how: How
    bytes: Natural
    sha256: Sha
    text: str


class Left(_Model):
    """What a handoff leaves out of one kind: how many, and how many bytes."""

    count: Natural
    bytes: Natural


class HandoffSeal(_Model):
    """The handoff's text as its digest and size."""

    sha256: Sha
    tokens: Natural


class Versions(_Model):
    """Which rules made the target."""

    composer: str
    rules: str


class Checkpoint(_Model):
    """What a target carries on of its source; the list of what was elided in it is for people, and not read."""

    schema_: Literal["context-rebase-checkpoint-v1"] = Field(alias="schema")
    operationId: str
    createdAt: Natural
    planId: Sha
    source: Origin
    ancestors: tuple[Origin, ...] = Field(strict=False)
    versions: Versions
    name: str
    blocks: tuple[Block, ...] = Field(strict=False)
    leftOut: dict[str, Left]
    interrupted: Natural
    pins: tuple[Any, ...] = Field(strict=False)
    memories: tuple[Any, ...] = Field(strict=False)
    verification: Literal["unknown"]
    limitations: tuple[str, ...] = Field(strict=False)
    handoff: HandoffSeal
    keyId: str


class Link(_Model):
    """What binds a target to its source, its checkpoint and its handoff."""

    schema_: Literal["context-rebase-link-v1"] = Field(alias="schema")
    operationId: str
    source: Origin
    targetSessionId: str
    checkpointSha256: Sha
    handoffSha256: Sha
    keyId: str


class Elided(NamedTuple):
    """A piece that gave way, wholly or in part: where the original lies, and how to tell that it is the original.

    `size` in bytes and `sha256` are those of the entry's line. There may be very many of these.
    """

    session_id: str
    entry_id: str
    how: str
    size: int
    sha256: str


class Kept(NamedTuple):
    """Pins and memories as a checkpoint holds them."""

    pins: tuple[dict[str, Any], ...] = ()
    memories: tuple[dict[str, Any], ...] = ()


class Contents(NamedTuple):
    """What a checkpoint says apart from the run: who made it, when and by which operation."""

    plan_id: str
    source: Origin
    ancestors: tuple[Origin, ...]
    versions: Versions
    name: str
    blocks: tuple[Block, ...]
    elided: tuple[Elided, ...]
    left_out: dict[str, Left]
    interrupted: int
    kept: Kept
    handoff: HandoffSeal


def checkpoint_record(contents: Contents, *, operation_id: str, created_at: int) -> dict[str, Any]:
    """Write a checkpoint, unsigned; `created_at` in milliseconds."""
    return {
        "schema": CHECKPOINT_TYPE,
        "operationId": operation_id,
        "createdAt": created_at,
        "planId": contents.plan_id,
        "source": contents.source.model_dump(),
        "ancestors": [origin.model_dump() for origin in contents.ancestors],
        "versions": contents.versions.model_dump(),
        "name": contents.name,
        "blocks": [block.model_dump() for block in contents.blocks],
        "elided": [
            {"sessionId": session, "entryId": entry, "how": how, "bytes": size, "sha256": sha256}
            for session, entry, how, size, sha256 in contents.elided
        ],
        "leftOut": {kind: left.model_dump() for kind, left in contents.left_out.items()},
        "interrupted": contents.interrupted,
        "pins": list(contents.kept.pins),
        "memories": list(contents.kept.memories),
        "verification": UNKNOWN,
        "limitations": list(LIMITATIONS),
        "handoff": contents.handoff.model_dump(),
    }


def link_record(contents: Contents, *, operation_id: str, target: str, checkpoint_sha256: str) -> dict[str, Any]:
    """Write a link, unsigned; `target` is the id of the new session."""
    return {
        "schema": LINK_TYPE,
        "operationId": operation_id,
        "source": contents.source.model_dump(),
        "targetSessionId": target,
        "checkpointSha256": checkpoint_sha256,
        "handoffSha256": contents.handoff.sha256,
    }


def read_checkpoint(data: Any) -> Checkpoint:
    """Read a checkpoint; raises ContextError with `lineage-unverified`, without a word of what it holds."""
    try:
        return Checkpoint.model_validate(data)
    except (ValidationError, RecursionError) as error:
        raise ContextError("lineage-unverified", "The checkpoint of this session is damaged.") from error


def read_link(data: Any) -> Link:
    """Read a link; raises ContextError with `lineage-unverified`."""
    try:
        return Link.model_validate(data)
    except (ValidationError, RecursionError) as error:
        raise ContextError("lineage-unverified", "The link of this session to its source is damaged.") from error
