"""Any story of asserting, confirming, retracting, ending, removing, restoring and deleting keeps memory whole."""

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from remembering import FOLD, Ids, digest

from foundation.errors import ContextError
from memory import claims, removing
from memory.batches import Batch, decode, replayed, rewritten
from memory.claims import Said
from memory.model import Change, Memory, RemovalKind, with_change
from memory.removing import Target

NAMES = ["Acme", "acme Ltd.", "Café Nord", "Bolt", "索引社", "owner"]
PREDICATES = ["uses", "lives in", "pays"]


def expect(error: ContextError, *codes: str) -> None:
    """Hold that a refusal is one of these."""
    assert error.code in codes


class Story(RuleBasedStateMachine):
    """A memory, its file, and what it says."""

    statements = Bundle("statements")

    def __init__(self) -> None:
        super().__init__()
        self.now, self.identify = 1000, Ids()
        self.data, self.memory = b"", Memory()

    def write(self, change: Change) -> None:
        """Add a change."""
        if any(change):
            self.data += rewritten([Batch(self.now, change)])
            self.memory = with_change(self.memory, change)

    @rule(subject=st.sampled_from(NAMES), predicate=st.sampled_from(PREDICATES), told=st.sampled_from(NAMES),
          single=st.booleans(), value=st.booleans())  # fmt: skip
    def assert_(self, subject: str, predicate: str, told: str, *, single: bool, value: bool) -> None:
        """Say something."""
        self.now += 1
        said = Said(subject, predicate, told, single=single, value=value)
        self.write(claims.asserted(self.memory, said, at=self.now, identify=self.identify, fold=FOLD))

    def pick(self, number: int) -> str | None:
        """Choose a statement."""
        known = sorted(self.memory.statements)
        return known[number % len(known)] if known else None

    @rule(number=st.integers(0, 50), act=st.sampled_from(["confirm", "retract", "end"]))
    def judge(self, number: int, act: str) -> None:
        """Confirm, retract or end a statement."""
        self.now += 1
        chosen = self.pick(number)
        if chosen is None:
            return
        try:
            if act == "confirm":
                if self.memory.statements[chosen].status == "proposed":
                    self.write(claims.confirmed(self.memory, chosen))
            elif act == "retract":
                self.write(claims.retracted(self.memory, chosen, at=self.now, reason="wrong"))
            else:
                self.write(claims.ended(self.memory, chosen, at=self.now))
        except ContextError as error:
            expect(error, "fact-retracted", "invalid-fact")

    @rule(kind=st.sampled_from(removing.KINDS), name=st.sampled_from(NAMES), number=st.integers(0, 50))
    def remove(self, kind: RemovalKind, name: str, number: int) -> None:
        """Remove; to restore at once gives back exactly what was; to remove again does nothing."""
        self.now += 1
        target = (self.pick(number) or "none") if kind == "fact" else name
        try:
            told = removing.effects(self.memory, [Target(kind, target)], at=self.now, identify=self.identify, fold=FOLD)
        except ContextError as error:
            expect(error, "fact-unknown", "entity-unknown", "entity-ambiguous", "name-too-short")
            return
        change = removing.removed(told)
        after = with_change(self.memory, change)
        again = removing.effects(after, [Target(kind, target)], at=self.now, identify=self.identify, fold=FOLD)
        assert again[0].already
        assert not any(removing.removed(again))
        if any(change) and kind != "fact":
            assert with_change(after, removing.restored(after, told[0].row.id)) == self.memory
        self.write(change)

    @rule(number=st.integers(0, 50))
    def restore(self, number: int) -> None:
        """Bring something back."""
        self.now += 1
        rows = removing.rows(self.memory)
        if rows:
            try:
                self.write(removing.restored(self.memory, rows[number % len(rows)].id))
            except ContextError as error:
                expect(error, "entity-removed")

    @rule(number=st.integers(0, 50))
    def delete(self, number: int) -> None:
        """Delete something for good: what is left says nothing of it."""
        self.now += 1
        rows = removing.rows(self.memory)
        if not rows:
            return
        row = rows[number % len(rows)]
        batches, gone, refused = removing.deleted(self.memory, decode(self.data), [row.id], at=self.now, digest=digest)
        if refused:
            assert refused[0].code in ("deleted-already", "entity-merged", "fact-holds")
            return
        assert gone == [row.id]
        self.data = rewritten(batches)
        self.memory = replayed(self.data)._replace(digest="")
        kept = self.memory.removals.get(row.id)
        assert (kept is None) == (row.kind == "fact")
        assert kept is None or (kept.permanent and not kept.keys and len(kept.digests) == len(row.keys))
        assert row.target not in self.memory.entities

    @invariant()
    def is_what_its_file_says(self) -> None:
        """Replaying the file, or any beginning of it, gives a memory; all of it gives this one."""
        found = replayed(self.data)
        assert found._replace(digest="") == self.memory._replace(digest="")
        half = replayed(self.data[: len(self.data) // 2])
        assert len(half.statements) <= len(self.data)

    @invariant()
    def one_value_at_a_time(self) -> None:
        """Hold that a predicate with one value at a time has no two confirmed open ones."""
        held = [
            (each.subject, each.predicate)
            for each in self.memory.statements.values()
            if each.single and each.status == "confirmed" and each.valid_to is None
        ]
        assert len(held) == len(set(held))

    @invariant()
    def nothing_is_both_live_and_withdrawn(self) -> None:
        """Hold that what a removal withdrew does not hold, and no live statement names what is removed."""
        removed = {entity.id for entity in self.memory.entities.values() if entity.removed_at is not None}
        for claim in self.memory.statements.values():
            assert claim.status == "retracted" or not removed & {claim.subject, claim.object}


TestStory = Story.TestCase
