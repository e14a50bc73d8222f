"""Claims: who or what they are about, when they were true, and whether the owner confirmed them.

To supersede, to retract and to end are three different things: a newer value closes an older one; a claim was never
true, and what it had closed holds again; something stopped being true. All are pure: memory in, a change out.
"""

from collections.abc import Callable
from typing import NamedTuple

from foundation.errors import ContextError
from memory.model import OWNER, RESTORED, Change, Entity, Memory, Statement
from memory.names import Fold, key

Identify = Callable[[str], str]
"""Gives a new id that begins with these letters; ids sort by when they were made."""


class Said(NamedTuple):
    """A claim in words: names of things, or `value` for what is none. Instants in milliseconds since 1970."""

    subject: str
    predicate: str
    object: str
    value: bool = False
    single: bool = False
    valid_from: int | None = None
    valid_to: int | None = None
    evidence: tuple[str, ...] = ()


def asserted(memory: Memory, said: Said, *, at: int, identify: Identify, fold: Fold) -> Change:
    """Take a claim in as a proposal; things that are not known yet become entities. The same claim again is no change.

    Raises ContextError `invalid-fact` where a word is missing or the times are the wrong way round.
    """
    words = [" ".join(text.split()) for text in (said.subject, said.predicate, said.object)]
    if not all(words) or (
        said.valid_from is not None and said.valid_to is not None and said.valid_to <= said.valid_from
    ):
        raise ContextError("invalid-fact")
    made: list[Entity] = []
    subject = _entity(memory, words[0], made, at=at, identify=identify, fold=fold)
    value = words[2] if said.value else ""
    target = "" if said.value else _entity(memory, words[2], made, at=at, identify=identify, fold=fold)
    if not made and _open(memory, (subject, words[1], target, value)) and said.valid_to is None:
        return Change()
    claim = Statement(
        identify("st_"), subject, words[1], target, value, "proposed", at, valid_from=said.valid_from,
        valid_to=said.valid_to, single=said.single, evidence=said.evidence,
    )  # fmt: skip
    return Change(entities=tuple(made), statements=(claim,))


def same(memory: Memory, said: Said, fold: Fold) -> Statement | None:
    """Give the claim that says the same and still holds; None where there is none."""
    made: list[Entity] = []
    names = [" ".join(text.split()) for text in (said.subject, said.predicate, said.object)]
    subject, target = (
        _entity(memory, names[at], made, at=0, identify=str, fold=fold) if at == 0 or not said.value else ""
        for at in (0, 2)
    )
    return _open(memory, (subject, names[1], target, names[2] if said.value else ""))


def _open(memory: Memory, words: tuple[str, str, str, str]) -> Statement | None:
    for claim in memory.statements.values():
        same_words = (claim.subject, claim.predicate, claim.object, claim.value) == words
        if same_words and claim.status != "retracted" and claim.valid_to is None:
            return claim
    return None


def confirmed(memory: Memory, statement_id: str) -> Change:
    """Confirm a claim; where its predicate has one value at a time, the value so far ends where this one begins."""
    claim = found(memory, statement_id)
    if claim.status == "confirmed":
        return Change()
    return _put_back(memory, claim._replace(status="confirmed", reason="", retracted_at=None))


def ended(memory: Memory, statement_id: str, *, at: int) -> Change:
    """Let a claim stop being true. Raises ContextError `invalid-fact` where it began only later."""
    claim = found(memory, statement_id)
    if claim.status == "retracted":
        raise ContextError("fact-retracted")
    if at < _start(claim):
        raise ContextError("invalid-fact")
    return Change(statements=(claim._replace(valid_to=at),))


def retracted(memory: Memory, statement_id: str, *, at: int, reason: str) -> Change:
    """Take a claim for one that was never true; what it had superseded holds again, unless something else does."""
    claim = found(memory, statement_id)
    if claim.status == "retracted":
        return Change()
    gone = claim._replace(status="retracted", reason=reason, retracted_at=at)
    before = memory.statements.get(claim.supersedes)
    reopened: tuple[Statement, ...] = ()
    if before is not None and before.status == "confirmed" and before.valid_to == _start(claim):
        others = [each for each in _rivals(memory, claim) if each.id not in (claim.id, before.id)]
        reopened = () if others else (before._replace(valid_to=None),)
    return Change(statements=(gone, *reopened))


def reinstated(memory: Memory, claim: Statement) -> Change:
    """Bring a claim back as it is handed in, never beside a newer value of a predicate that has one at a time."""
    if claim.status != "confirmed" or not claim.single or claim.valid_to is not None:
        return Change(statements=(claim,))
    return _put_back(memory, claim)


def restored_fact(memory: Memory, statement_id: str) -> Change:
    """Bring back a fact that the owner forgot. Raises ContextError where what it is about is gone."""
    claim = found(memory, statement_id)
    for name in filter(None, (claim.subject, claim.object)):
        entity = memory.entities.get(canonical_id(memory, name))
        if name != OWNER and (entity is None or entity.removed_at is not None):
            raise ContextError("entity-removed")
    return reinstated(memory, claim._replace(status="confirmed", reason=RESTORED, retracted_at=None))


def found(memory: Memory, statement_id: str) -> Statement:
    """Give a claim. Raises ContextError `fact-unknown`."""
    claim = memory.statements.get(statement_id)
    if claim is None:
        raise ContextError("fact-unknown")
    return claim


def canonical_id(memory: Memory, entity_id: str) -> str:
    """Follow mergers to the entity that stands for this one."""
    seen: set[str] = set()
    while entity_id not in seen and (entity := memory.entities.get(entity_id)) and entity.merged_into:
        seen.add(entity_id)
        entity_id = entity.merged_into
    return entity_id


def live_entities(memory: Memory, name: str, fold: Fold) -> list[Entity]:
    """List the live entities of this name or alias."""
    wanted = key(name, fold)
    return [
        entity
        for entity in memory.entities.values()
        if entity.removed_at is None
        and not entity.merged_into
        and wanted in {key(text, fold) for text in (entity.label, *entity.aliases)}
    ]


def _entity(memory: Memory, name: str, made: list[Entity], *, at: int, identify: Identify, fold: Fold) -> str:
    if name.casefold() in (OWNER, "me", "i"):
        return OWNER
    known = [*live_entities(memory, name, fold), *(each for each in made if key(each.label, fold) == key(name, fold))]
    if not known:
        known = [Entity(identify("ent_"), "thing", name, created_at=at)]
        made.append(known[0])
    return known[0].id


def _put_back(memory: Memory, claim: Statement) -> Change:
    """Let a confirmed claim hold: it closes what held before it, or is closed by what holds since."""
    if not claim.single or claim.valid_to is not None:
        return Change(statements=(claim,))
    closed: list[Statement] = []
    for rival in _rivals(memory, claim):
        if rival.id == claim.id:
            continue
        if _start(rival) > _start(claim):
            claim = claim._replace(valid_to=_start(rival))
        else:
            closed.append(rival._replace(valid_to=max(_start(claim), _start(rival))))
            claim = claim._replace(supersedes=rival.id)
    return Change(statements=(*closed, claim))


def _rivals(memory: Memory, claim: Statement) -> list[Statement]:
    """List the confirmed open values of a predicate that has one at a time."""
    return [
        each
        for each in memory.statements.values()
        if each.status == "confirmed" and each.valid_to is None and claim.single
        and (each.subject, each.predicate) == (claim.subject, claim.predicate)
    ]  # fmt: skip


def _start(claim: Statement) -> int:
    return claim.valid_from if claim.valid_from is not None else claim.recorded_at
