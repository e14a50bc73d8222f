"""Pins and session memory of a source: what its own entries and the checkpoint that it began with come to."""

from foundation.marks import MEMORY_TYPES
from memory.pinned import mutation
from memory.pins import Replayed, freezable, frozen, replay, thawed
from memory.visibility import Visibility
from rebase.checkpoint import Kept
from rebase.lineage import Own
from rebase.pieces import clean
from rebase.source import Source


def remembered(source: Source, own: Own | None, visibility: Visibility) -> Replayed:
    """Replay what a source remembers at its leaf; nothing of sessions that were removed. Raises ContextError."""
    places = sorted(place for place, kind in source.skimmed.custom_types.items() if kind in MEMORY_TYPES)
    session = source.header.id
    values = [source.reader.value(source.step(place)) for place in places]
    found = [made for order, value in enumerate(values) if (made := mutation(value, session, order))]
    branch = {step.id for step in source.steps} if found else set()
    items = thawed([*own.checkpoint.pins, *own.checkpoint.memories]) if own else []
    inherited = [item for item in items if not visibility.is_removed(item.session)]
    return replay(found, on_branch=lambda entry: entry in branch, inherited=inherited)


def kept(state: Replayed, visibility: Visibility) -> Kept:
    """Freeze what holds, each text clean. Raises ContextError `memory-too-much`."""
    rows = [(item.kind, frozen(item, clean(item.text, visibility)[0])) for item in freezable(state)]
    return Kept(tuple(row for kind, row in rows if kind == "pin"), tuple(row for kind, row in rows if kind == "memory"))
