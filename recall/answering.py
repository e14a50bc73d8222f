"""Answer a search: the whole way from a question to the JSON on the wire, top down.

authorise → catch up → propose places, all filters inside SQL → read, verify, classify, redact, mask → does it still
match? → rank → best passages → budget → references.
"""

from functools import partial
from typing import Unpack

import apsw

from foundation.errors import ContextError
from index.fresh import open_index, start_over
from index.matching import has_words
from privacy.audiences import allowed_classes
from recall import wire
from recall.budget import Json
from recall.evidence import Logs, gate
from recall.here import Here
from recall.hits import Examiner
from recall.presenting import Outcome, present
from recall.request import Asked, SearchRequest, search_request
from recall.scope import PROJECT_WIDE, sources
from recall.searching import from_index, from_log


class _Again(Exception):  # noqa: N818 - no error: the index was wrong about something that has been mended
    """Says that another round will do better."""


def search(here: Here, query: str, **asked: Unpack[Asked]) -> Json:
    """Answer a search with `context-history-result-v1`; a refusal or failure is an answer too, with its code."""
    scope = asked.get("scope") or here.values["historyTools.defaultScope"]
    warnings: list[str] = []
    for last in (False, False, True):
        try:
            request = search_request(here.values, query, **asked)
            outcome = _outcome(here, request, last=last)
            return present(here, request, outcome._replace(warnings=[*warnings, *outcome.warnings]))
        except ContextError as error:
            return wire.unavailable(wire.RESULT, error.code, effectiveScope=scope)
        except _Again:
            continue
        except (apsw.CorruptError, apsw.NotADBError):
            start_over(here.index_folder, here.disk)
            warnings = ["index-rebuilt"]
    return wire.unavailable(wire.RESULT, "index-unavailable", effectiveScope=scope)


def _outcome(here: Here, request: SearchRequest, *, last: bool) -> Outcome:
    if not here.values["historyTools.enabled"]:
        raise ContextError("history-disabled")
    if not here.values["retrieval.exact"]:
        request = request._replace(query=request.query.as_words())
    if reason := _nothing_to_look_for(here, request):
        return Outcome(request.scope, warnings=[reason])
    db, opened = open_index(here.index_folder, here.disk)
    try:
        chosen = sources(here, request.scope, db)
        with Logs() as logs:
            allowed = allowed_classes(here.audience, here.values)
            examiner = Examiner(request.query, gate(here.values, allowed, here.visibility, reveal=here.reveal), logs)
            find = partial(from_index, db) if db else from_log
            found = find(here, request, chosen, examiner, Outcome(chosen.name))
            if db and examiner.changed and not last:
                from index.changes import doubt

                doubt(db, examiner.changed)
                raise _Again
    finally:
        if db is not None:
            db.close()
    return found._replace(warnings=[*opened, *chosen.warnings, *found.warnings])


def _nothing_to_look_for(here: Here, request: SearchRequest) -> str:
    """Say why nothing can be looked for: every way is switched off, or the query holds no letter and no digit."""
    terms = request.query.terms
    if not here.values["retrieval.fts"] and not any(term.kind == "literal" for term in terms):
        return "lexical-retrieval-disabled"
    if any(has_words(term.text) for term in terms):
        return ""
    quoted = any(term.required for term in terms) and request.scope not in PROJECT_WIDE  # the log itself is read
    return "" if quoted else "query-has-no-searchable-terms"
