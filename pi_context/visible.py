"""The one place that reads the removal ledgers for an answer: each once, and closed where it cannot be read."""

import os
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from foundation.errors import ContextError
from memory.ledger import folder_for, folders
from memory.visibility import CLOSED, Visibility
from pi_context import environment
from pi_context.output import write

if TYPE_CHECKING:
    from memory.model import Memory


class Ledgers:
    """The ledgers of all projects, as they are when each is first asked for."""

    def __init__(self, own_folder: str, keys_folder: str) -> None:
        self._own_folder, self._keys_folder = own_folder, keys_folder
        self._memories: dict[str, Memory | None] = {}
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
        from memory.seeing import visibility

        known = [memory for folder in there if (memory := self._memory(folder)) is not None]
        if len(known) < len(there):
            return CLOSED
        try:
            return visibility(known, _signer(self._keys_folder), now=environment.clock())
        except ContextError as error:
            return _closed(error)

    def _memory(self, folder: str) -> "Memory | None":
        if folder not in self._memories:
            from memory.ledger import load

            try:
                self._memories[folder] = load(folder)
            except ContextError as error:
                _closed(error)
                self._memories[folder] = None
        return self._memories[folder]


def _closed(error: ContextError) -> Visibility:
    cause = type(error.__cause__ or error).__name__
    write(sys.stderr, f"pi-context: WARNING: the removal ledger cannot be read ({cause}); it counts as closed.\n")
    return CLOSED


def _signer(keys_folder: str) -> Callable[[str, str], str]:
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
