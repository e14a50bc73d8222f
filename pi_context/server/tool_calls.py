"""A tool call by the model: the answer of recall word for word, and details without any text for Pi's log."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from foundation.canonical import Json, dumps
from foundation.errors import ContextError
from pi_context.server.around import InsidePi
from pi_context.server.methods import Ask
from pi_context.server.protocol import MisfitError
from pi_context.tools import MEMORY, READ, RECALL, STATUS
from recall import answering, wire
from recall.here import Here

_SEARCH = {
    "scope": "scope", "limit": "limit", "skip": "skip", "maxOutputTokens": "max_output_tokens", "roles": "roles",
    "tools": "tools", "before": "before", "after": "after", "includeSummaries": "include_summaries",
}  # fmt: skip
_READ = {
    "startLine": "start_line", "startColumn": "start_column", "maxLines": "max_lines",
    "maxOutputTokens": "max_output_tokens",
}  # fmt: skip


def tool(ask: Ask) -> Json:
    """Answer a tool call; a refusal is an answer too."""
    name, arguments = ask.params.name, ask.params.arguments
    if name == MEMORY:
        from pi_context.server.memory_calls import remembered

        return remembered(ask)
    if name not in _TOOLS:
        raise MisfitError("there is no such tool")
    schema, answered = _TOOLS[name]
    pi = replace(ask.params.context, actor="model")
    around = InsidePi(ask.state, pi)
    try:
        answer = answered(around.here(ask.state.references), arguments)
        if answer.get("code") == "entry-not-found" and around.words["leaf"]:  # what looked like its entry was none
            answer = answered(around.here(ask.state.references)._replace(leaf=None), arguments)
    except ContextError as error:
        answer = wire.unavailable(schema, error.code)
    if pi.session_file is not None and around.session is None:
        answer = _unsaved(answer)
    return _told(answer)


def failed(name: str, code: str) -> Json:
    """Answer a call of a tool that came to nothing, in the form of its other answers. Raises MisfitError."""
    if name == MEMORY:
        return _told(wire.unavailable(VIEW, code))
    if name not in _TOOLS:
        raise MisfitError("there is no such tool")
    return _told(wire.unavailable(_TOOLS[name][0], code))


def _told(answer: Json) -> Json:
    return {"content": dumps(answer), "details": details(answer), "isError": answer["status"] == wire.UNAVAILABLE}


def details(answer: Json) -> Json:
    """Give what Pi may keep of an answer beside it: ids, counts and codes."""
    told = {name: answer[name] for name in _TOLD if name in answer}
    if "hits" in answer:
        told["hits"] = [{name: hit[name] for name in _OF_HIT if name in hit} for hit in answer["hits"]]
    return told


_TOLD = (
    "schema", "status", "code", "coverage", "effectiveScope", "warnings", "omitted", "sessionId", "entryId",
    "classification", "redactions", "masked", "startLine", "nextLine", "sha256", "indexCurrent",
)  # fmt: skip
_OF_HIT = ("sessionId", "entryId", "relation", "classification", "redactions", "masked", "truncated")


def _recall(here: Here, given: Json) -> Json:
    asked: Any = {name: given[known] for known, name in _SEARCH.items() if given.get(known) is not None}
    return answering.search(here, given.get("query", ""), **asked)


def _read(here: Here, given: Json) -> Json:
    from recall import reading

    asked: Any = {name: given[known] for known, name in _READ.items() if given.get(known) is not None}
    return reading.read(here, given.get("sourceRef", ""), **asked)


def _status(here: Here, given: Json) -> Json:
    from recall import status

    scope = given.get("scope")
    return status.status(here, scope if scope is None or isinstance(scope, str) else "?")


def _unsaved(answer: Json) -> Json:
    """Say that the session has no file yet, where recall can only see that there is none."""
    told = answer | {"warnings": [_UNSAVED if code == _NONE else code for code in answer["warnings"]]}
    return told | ({"code": _UNSAVED} if answer.get("code") == _NONE else {})


VIEW = "context-memory-view-v1"
_NONE, _UNSAVED = "no-session", "session-unsaved"
_TOOLS: dict[str, tuple[str, Callable[[Here, Json], Json]]] = {
    RECALL: (wire.RESULT, _recall),
    READ: (wire.READ, _read),
    STATUS: (wire.STATUS, _status),
}
