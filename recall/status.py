"""Say how recall stands, without a word of content."""

from functools import partial

import apsw

from foundation.canonical import Json
from foundation.errors import ContextError
from foundation.settings import SCOPES
from index import health
from index.fresh import with_index
from recall import wire
from recall.here import Here
from recall.scope import PROJECT_WIDE, Sources, sources


def status(here: Here, scope: str | None = None) -> Json:
    """Answer `context-history-status-v1`; the owner hears numbers too, others only whether the index is current."""
    name = scope or here.values["historyTools.defaultScope"]
    if not here.values["historyTools.enabled"]:
        return wire.unavailable(wire.STATUS, "history-disabled", enabled=False, effectiveScope=name)
    try:
        if name not in SCOPES:
            raise ContextError("invalid-scope")
        return with_index(here.index_folder, here.disk, partial(_state, here, name))
    except ContextError as error:
        return wire.unavailable(wire.STATUS, error.code, enabled=True, effectiveScope=name)


def _state(here: Here, name: str, db: apsw.Connection | None, opened: tuple[str, ...]) -> Json:
    chosen = sources(here, name, db) if here.session or name in PROJECT_WIDE else Sources(name, (), ("no-session",))
    state = health.state(db, here.index_folder, chosen.files) if db else None
    owner = here.owner and here.audience.local
    warnings = [*opened, *chosen.warnings]
    return wire.state(chosen.name, warnings, state, chosen.lineage, pending=here.pending(), owner=owner)
