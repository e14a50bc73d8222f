"""The one place that reads the removal ledger for an answer: once, and closed where it cannot be read."""

import os
import sys
from collections.abc import Callable, Iterable

from foundation.errors import ContextError
from memory.visibility import CLOSED, Visibility
from pi_context import environment
from pi_context.output import write


def visibility(folders: Iterable[str], keys_folder: str) -> Visibility:
    """Give the gate of the memories in these folders; a project without one costs a look for its file."""
    there = [folder for folder in folders if os.path.lexists(folder)]
    if not there:
        return Visibility()
    from memory import seeing
    from memory.ledger import load

    try:
        signer = _signer(keys_folder)
        return seeing.visibility([load(folder) for folder in there], signer, now=environment.clock())
    except ContextError as error:
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
