"""Say how recall stands, without a word of content."""

import apsw

from index import health
from index.fresh import open_index
from recall import wire
from recall.budget import Json
from recall.here import Here
from recall.scope import sources
from foundation.errors import ContextError


def status(here: Here, scope: str | None) -> Json:
    """Answer `context-history-status-v1`; the owner hears numbers too, others only whether the index is current."""
    name = scope or here.values["historyTools.defaultScope"]
    answer: Json = {"schema": wire.STATUS, "quotedData": True, "status": wire.COMPLETE}
    if not here.values["historyTools.enabled"]:
        return wire.unavailable(wire.STATUS, "history-disabled", enabled=False, effectiveScope=name)
    db, warnings = open_index(here.index_folder, here.disk)
    try:
        try:
            chosen = sources(here, name, db)
        except ContextError as error:
            return wire.unavailable(wire.STATUS, error.code, enabled=True, effectiveScope=name)
        state = health.state(db, chosen.files) if db else None
        current = state is not None and not state.behind and not state.detectors_behind
        answer |= {"status": wire.COMPLETE if current else wire.PARTIAL, "enabled": True, "effectiveScope": name}
        answer |= {"indexCurrent": current, "pendingRebase": False, "warnings": [*warnings, *chosen.warnings]}
        if here.audience.local and state:
            answer["index"] = {}
        return answer
    finally:
        if db is not None:
            db.close()
