"""The one place that reads the removal ledgers for an answer: each once, and closed where it cannot be read."""

import os
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from foundation.errors import ContextError
from memory.ledger import folder_for, folders
from memory.visibility import CLOSED, Visibility
from pi_context import environment
from pi_context.output import write

if TYPE_CHECKING:
    from memory.sight import Sight


class Ledgers:
    """The ledgers of all projects, as they are when each is first asked for."""

    def __init__(self, own_folder: str, keys_folder: str) -> None:
        self._own_folder, self._keys_folder = own_folder, keys_folder
        self._read: dict[str, _Known | None] = {}
        self._seen: dict[str, Visibility] = {}

    def of(self, project: str) -> Visibility:
        """Give what may be seen of a project, by its canonical working folder."""
        if project not in self._seen:
            self._seen[project] = self._visibility([folder_for(self._own_folder, project)])
        return self._seen[project]

    @cached_property
    def everywhere(self) -> Visibility:
        """The same for all projects at once."""
        try:
            return self._visibility(folders(self._own_folder))
        except ContextError as error:
            return _closed(error)

    def _visibility(self, those: Iterable[str]) -> Visibility:
        there = [folder for folder in those if os.path.lexists(folder)]
        if not there:
            return Visibility()  # what most projects have costs nothing more
        known = [found for folder in there if (found := self._known(folder)) is not None]
        if len(known) < len(there):
            return CLOSED
        if len(known) == 1:
            return known[0].visibility
        from memory.sight import visibility

        try:
            return visibility([each.sight for each in known], signer(self._keys_folder))
        except ContextError as error:
            return _closed(error)

    def _known(self, folder: str) -> "_Known | None":
        """Read a ledger, once; None where it cannot be read."""
        if folder not in self._read:
            try:
                self._read[folder] = _looked_up(folder, self._keys_folder)
            except ContextError as error:
                _closed(error)
                self._read[folder] = None
        return self._read[folder]


class _Known(NamedTuple):
    """What a ledger says, and of which state of its file."""

    state: list[int]
    sight: "Sight"
    visibility: Visibility


_seen_before: dict[str, _Known] = {}
"""What this process read last of each folder; a server is asked again and again."""


def _looked_up(folder: str, keys_folder: str) -> _Known:
    """Give what a ledger says, as it was kept or by replaying all of it. Raises ContextError `ledger-unreadable`."""
    from memory.projecting import kept, stamp
    from memory.sight import visibility

    now = environment.clock()
    try:
        state = stamp(folder)
    except OSError:  # which is for the ledger to judge
        state = []
    before = _seen_before.get(folder)
    if before is not None and state and before.state == state and (before.sight.until or now + 1) > now:
        return before
    sight = kept(folder, now=now) or worked_out(folder, keys_folder, now=now)
    found = _Known(state, sight, visibility([sight], signer(keys_folder)))
    _seen_before[folder] = found
    return found


def worked_out(folder: str, keys_folder: str, *, now: int) -> "Sight":
    """Replay a ledger, and give what of it decides. Raises ContextError `ledger-unreadable`."""
    from memory.ledger import load
    from memory.names import Fold
    from memory.seeing import sight_of

    return sight_of(load(folder), signer(keys_folder), now=now, fold=Fold())


def _closed(error: ContextError) -> Visibility:
    cause = type(error.__cause__ or error).__name__
    write(sys.stderr, f"pi-context: WARNING: the removal ledger cannot be read ({cause}); it counts as closed.\n")
    return CLOSED


def signer(keys_folder: str) -> Callable[[str, str], str]:
    """Give what makes digests of names by our key, which is read when it is first needed."""
    from functools import cache

    @cache
    def secret(key_id: str) -> bytes:
        from journal.keys import derived, load_keys

        keys = load_keys(keys_folder)
        if keys is None or keys.key_id != key_id:
            raise ContextError("ledger-unreadable")
        return derived(keys, LEDGER)

    def sign(key_id: str, name: str) -> str:
        import hmac

        return hmac.digest(secret(key_id), digested(name), "sha256").hex()

    return sign


LEDGER = "ledger"
"""What the key of deleted names is for."""


def digested(name: str) -> bytes:
    """Give the bytes that stand for a folded name in its digest, with the version of the fold."""
    from memory.names import FOLD_VERSION

    return f"{FOLD_VERSION}\0{name}".encode("utf-8", "surrogatepass")
