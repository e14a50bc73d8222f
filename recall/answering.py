"""Answer a search: the whole way from a question to the JSON on the wire, top down.

authorise → catch up → propose places, all filters inside SQL → read, verify, classify, redact, mask → does it still
match? → rank → best passages → budget → references.
"""

from functools import partial
from typing import Unpack

import apsw

from foundation.canonical import Json
from foundation.errors import ContextError
from foundation.settings import SCOPES
from index.fresh import let_doubt, with_index
from index.matching import has_words
from recall import wire
from recall.evidence import Logs
from recall.examiner import Examiner
from recall.here import Here
from recall.presenting import Outcome, present
from recall.query import has_signs, without
from recall.request import Asked, SearchRequest, search_request
from recall.scope import EVERYWHERE, PROJECT_WIDE, sources
from recall.searching import from_index, from_log

UNREADABLE = "ledger-unreadable"

_MORE_LOOKS = 2


def search(here: Here, query: str, **asked: Unpack[Asked]) -> Json:
    """Answer a search with `context-history-result-v1`; a refusal or failure is an answer too, with its code."""
    try:
        request = search_request(here.values, query, **asked)
        if not here.values["historyTools.enabled"]:
            raise ContextError("history-disabled")
        if not here.values["retrieval.exact"]:
            request = request._replace(query=request.query.as_words())
        if reason := _nothing_to_look_for(here, request):
            return present(here, request, Outcome(request.scope, warnings=[reason]))
        outcome = with_index(here.index_folder, here.disk, partial(_outcome, here, request))
        return present(here, request, outcome)
    except ContextError as error:
        scope = asked.get("scope")
        shown = scope if scope in SCOPES else here.values["historyTools.defaultScope"]
        return wire.unavailable(wire.RESULT, error.code, effectiveScope=shown)


def _outcome(here: Here, request: SearchRequest, db: apsw.Connection | None, opened: tuple[str, ...]) -> Outcome:
    """Look; where the index proves wrong about a log, let it read that log anew and look again."""
    if request.scope == EVERYWHERE and here.owner:
        here = here._replace(visibility=here.everywhere())
    if here.visibility.names is not None:  # a removed name finds nothing, not even as a part of an identifier
        request = request._replace(query=without(request.query, here.visibility.suppresses))
    found, changed = _look(here, request, db)
    for _ in range(_MORE_LOOKS):
        if db is None or not changed or not let_doubt(db, changed):
            break
        found, changed = _look(here, request, db)
    shortened = ["query-shortened"] * request.query.shortened
    closed = [UNREADABLE] * here.visibility.closed
    return found._replace(warnings=[*closed, *opened, *shortened, *found.warnings])


def _look(here: Here, request: SearchRequest, db: apsw.Connection | None) -> tuple[Outcome, set[str]]:
    """Look once; give also the files that are not what the index has of them."""
    chosen = sources(here, request.scope, db)
    with Logs(chosen.project) as logs:
        examiner = Examiner(request.query, here.gate, logs)
        if db:
            found = from_index(db, here, request, chosen, examiner)
        else:
            found = from_log(here, request, chosen, examiner, Outcome(chosen.name))
    return found._replace(warnings=[*chosen.warnings_of(found.scope), *found.warnings]), examiner.changed


def _nothing_to_look_for(here: Here, request: SearchRequest) -> str:
    """Say why nothing can be looked for: every way is switched off, or the query holds nothing but punctuation."""
    terms = request.query.terms
    if not here.values["retrieval.fts"] and not any(term.kind == "literal" for term in terms):
        return "lexical-retrieval-disabled"
    if any(has_words(term.text) for term in terms):
        return ""
    in_lines = request.scope not in PROJECT_WIDE and any(term.required or has_signs(term.text) for term in terms)
    return "" if in_lines else "query-has-no-searchable-terms"  # within one session the log itself is read
