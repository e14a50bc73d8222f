"""The door's side of memory: the folder of a project's memory, its lock, its key, and how a change is carried out."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from foundation.errors import ContextError
from foundation.texts import RawText
from journal.keys import load_keys, own_keys, sign
from journal.lifecycle import Record, standing
from journal.operations import Outcome
from journal.places import Journal
from journal.reading import SetAside, listed
from journal.writing import HeldJournal, locked
from memory import changing, ledger, projecting
from memory.batches import Batch, decode, replayed
from memory.changing import COURSE, Site
from memory.masking import measured
from memory.model import Change, Memory, NameDigest
from memory.names import FOLD_VERSION, Fold
from pi_context import environment, filters_seen
from pi_context.surroundings import Surroundings
from pi_context.visible import LEDGER, digested, worked_out
from privacy.redaction import secrets_in
from sessions.locating import canonical

_WAIT_SECONDS = 5.0


class Held(NamedTuple):
    """The memory of a project while nobody else can change it: its file as it is, and what that stands for."""

    around: Surroundings
    journal: HeldJournal
    site: Site
    data: bytes
    memory: Memory

    @property
    def batches(self) -> list[Batch]:
        """The changes that led here."""
        return decode(self.data)


def folder_of(around: Surroundings) -> str:
    """Give the folder of the project's memory, which need not exist."""
    return ledger.folder_for(around.own_folder, canonical(around.project))


def load(around: Surroundings) -> Memory:
    """Read the project's memory. Raises ContextError: `memory-disabled`, `ledger-unreadable`."""
    need_enabled(around)
    return ledger.load(folder_of(around))


def need_enabled(around: Surroundings) -> None:
    """Refuse where memory is switched off."""
    if not around.configuration.values["memory.enabled"]:
        raise ContextError("memory-disabled")


def fold_of(around: Surroundings) -> Fold:
    """Give how names are folded: by the owner's filters where there are any. Raises ContextError `filters-invalid`."""
    return filters_seen.load(around.own_folder).fold


def identify(prefix: str) -> str:
    """Give a new id; ids sort by when they were made."""
    return f"{prefix}{environment.clock():012x}{os.urandom(10).hex()}"


@contextmanager
def holding(around: Surroundings, follow: Callable[[Record], None]) -> Iterator[Held]:
    """Hold the memory; what an earlier change left unfinished is brought to its end first.

    `follow` does what a change asks for beyond memory, and may be repeated. Raises BusyError, code `memory-busy`, and
    what stopped the earlier change.
    """
    need_enabled(around)
    folder = folder_of(around)
    journal = Journal(folder, COURSE, load_keys(around.keys_folder))
    site = Site(folder, around.disk, follow, partial(_project, around, folder))
    with locked(
        journal,
        disk=around.disk,
        clock=environment.clock,
        pid=os.getpid(),
        busy="memory-busy",
        wait_seconds=_WAIT_SECONDS,
    ) as held:
        known = held._replace(journal=journal._replace(keys=load_keys(around.keys_folder)))
        for record in unfinished(known.journal):
            outcome = changing.recover(known, site, record.operation_id)
            if outcome.error and standing(COURSE, outcome.record) not in ("closed", "finished"):
                raise outcome.error
        data = ledger.read(folder)
        yield Held(around, known, site, data, replayed(data))


def _project(around: Surroundings, folder: str) -> None:
    """Keep what decides on what may be seen, for the answers to come; where that cannot be, they work it out."""
    projecting.drop(around.disk, folder)
    now = environment.clock()
    try:
        sight = worked_out(folder, around.keys_folder, now=now)
        projecting.keep(around.disk, folder, sight, now=now)
    except (ContextError, OSError):
        return


def unfinished(journal: Journal) -> list[Record]:
    """List the changes that were begun and came to no end."""
    found = [one for one in listed(journal) if not isinstance(one, SetAside)]
    return [record for record in found if standing(COURSE, record) in ("open", "closing")]


def save(held: Held, change: Change) -> None:
    """Add a change that has no effect but in memory: one line, durable when this returns."""
    if any(change):
        batch = Batch(environment.clock(), change)
        changing.write(held.site, changing.appended(held.data, batch))
        held.site.project()


def carry_out(held: Held, after: bytes, *, op: str, plan_id: str) -> Outcome:
    """Change memory by an operation that a crash can be recovered from."""
    signing = held.journal.signing(own_keys(held.around.keys_folder, held.around.disk, os.urandom))
    identity = identify("memory_")
    return changing.carry_out(signing, held.site, identity, op=op, plan_id=plan_id, before=held.data, after=after)


def digest_of(around: Surroundings, name: str) -> NameDigest:
    """Give what is kept of a name that is deleted for good."""
    keys = own_keys(around.keys_folder, around.disk, os.urandom)
    words, characters = measured(name)
    return NameDigest(sign(keys, LEDGER, digested(name)), keys.key_id, words, characters, FOLD_VERSION)


def check_words(around: Surroundings, texts: Sequence[str]) -> None:
    """Refuse words that are too long or hold a secret, before anything is written."""
    if sum(map(len, texts)) > around.configuration.values["memory.maxClaimChars"]:
        raise ContextError("claim-too-long")
    if any(secrets_in(RawText(text)) for text in (*texts, " ".join(texts))):
        raise ContextError("claim-holds-secret")
