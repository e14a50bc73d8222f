"""The exact bytes of a target: a pure function of the plan, the operation and the key, with nothing left to chance.

Every id in it is derived from these, so that the same operation gives the same file, and another operation another one.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from foundation.marks import CHECKPOINT_TYPE, HANDOFF_TYPE, LINK_TYPE
from rebase.checkpoint import Contents, checkpoint_record, link_record
from rebase.plan import Plan
from rebase.sealing import Sealed, Signer, canonical, sealed
from sessions import composing


class Target(NamedTuple):
    """A session that is still to be written: the name of its file, its id, its bytes and their SHA-256."""

    file_name: str
    session_id: str
    data: bytes
    sha256: str

    @property
    def size(self) -> int:
        """Give the number of bytes."""
        return len(self.data)


def compose(plan: Plan, *, operation_id: str, created_at: int, signer: Signer) -> Target:
    """Write the target of a plan that has no refusal; `created_at` in milliseconds.

    `plan.file` goes into the header as the session that it continues, so it should be canonical.
    """
    contents = plan.contents
    if contents is None:
        raise ValueError("a refused plan has no target")
    seed = _seed(plan, contents, operation_id, created_at, signer.key_id)
    identity = composing.session_id(seed)
    checkpoint = sealed(
        "checkpoint", checkpoint_record(contents, operation_id=operation_id, created_at=created_at), signer
    )
    link = sealed(
        "link",
        link_record(contents, operation_id=operation_id, target=identity, checkpoint_sha256=checkpoint.sha256),
        signer,
    )
    data = composing.session(
        identity,
        cwd=plan.cwd,
        parent=plan.file,
        created_at=created_at,
        seed=seed,
        entries=_entries(plan, checkpoint, link),
    )
    return Target(composing.file_name(identity, created_at), identity, data, sha256(data).hexdigest())


def _entries(plan: Plan, checkpoint: Sealed, link: Sealed) -> Iterator[dict[str, Any]]:
    if plan.model is not None:
        yield {"type": "model_change", "provider": plan.model[0], "modelId": plan.model[1]}
    yield {"type": "thinking_level_change", "thinkingLevel": plan.thinking_level}
    if plan.name:
        yield {"type": "session_info", "name": plan.name}
    yield {"type": "custom", "customType": CHECKPOINT_TYPE, "data": composing.Written(checkpoint.text)}
    yield {"type": "custom", "customType": LINK_TYPE, "data": composing.Written(link.text)}
    yield {"type": "custom_message", "customType": HANDOFF_TYPE, "content": plan.handoff, "display": False}


def _seed(plan: Plan, contents: Contents, operation_id: str, created_at: int, key_id: str) -> bytes:
    parts = [
        plan.plan_id, contents.source.sessionId, plan.cwd, operation_id, created_at, key_id,
        contents.versions.model_dump(),
    ]  # fmt: skip
    return sha256(canonical(parts)).digest()
