"""`pi-context history …`: search, read back, status, and the owner's exclusions."""

from collections.abc import Callable

from foundation.canonical import Json
from foundation.errors import CODES, REFUSED, ContextError
from pi_context import environment, exclusions, shell_references
from pi_context.call import Call
from pi_context.output import Output, plain
from pi_context.shell_references import ShellReferences
from pi_context.showing import day
from recall import wire
from recall.here import Here


def search(call: Call) -> int:
    """Search and show the hits."""
    return give(call, wire.RESULT, lambda: searched(call), show_hits)


def searched(call: Call) -> Json:
    """Search as the words say."""
    from recall.answering import search as ask

    words = call.words
    return ask(
        _here(call), " ".join(words["query"]), scope=words["scope"], limit=words["limit"], skip=words["skip"],
        max_output_tokens=words["max_output_tokens"], roles=words["role"], tools=words["tool"],
        before=words["before"], after=words["after"], include_summaries=words["include_summaries"] or None,
        local_time=True,
    )  # fmt: skip


def read(call: Call) -> int:
    """Read an entry back."""
    from recall.reading import read as ask

    words = call.words

    def answer() -> Json:
        return ask(
            _here(call), words["ref"], start_line=words["start_line"], max_lines=words["max_lines"],
            start_column=words["start_column"], max_output_tokens=words["max_output_tokens"],
        )  # fmt: skip

    return give(call, wire.READ, answer, _show_text)


def status(call: Call) -> int:
    """Tell how recall stands."""
    from recall.status import status as ask

    return give(call, wire.STATUS, lambda: ask(_here(call), call.words["scope"]), _show_status)


def exclude(call: Call) -> int:
    """Keep a session out of every search but its own."""
    return _change(call, call.around.session_id(call.words["wanted"]), add=True)


def include(call: Call) -> int:
    """Take a session in again."""
    call.around.require_owner()
    wanted = call.words["wanted"]
    known = exclusions.excluded_sessions(call.around.own_folder)
    return _change(call, wanted if wanted in known else call.around.session_id(wanted), add=False)


def list_exclusions(call: Call) -> int:
    """List the excluded sessions; which these are is not for an agent to know."""
    if call.around.mark:
        call.around.require_owner()
    known = sorted(exclusions.excluded_sessions(call.around.own_folder))
    if call.out.json:
        call.out.answer({"sessions": known})
    else:
        for identity in known or ["No session is excluded."]:
            call.out.say(plain(identity))
    return 0


def give(call: Call, schema: str, answer: Callable[[], Json], show: Callable[[Output, Json], None]) -> int:
    """Write an answer that has a schema: to stdout also where it says that there is none.

    What goes wrong before there is an answer is one to a program; to a person the boundary tells more of it.
    """
    out = call.out
    try:
        given = answer()
    except ContextError as error:
        if not out.json:
            raise
        given = wire.unavailable(schema, error.code)
    if out.json:
        out.answer_measured(given)
    elif given["status"] == wire.UNAVAILABLE:
        known = CODES[given["code"]]
        out.say(f"{known.meaning} [{given['code']}]\n  {known.hint}")
    else:
        show(out, given)
    return REFUSED if given["status"] == wire.UNAVAILABLE else 0


def warn(out: Output, warnings: list[str]) -> None:
    """Say what is missing from an answer."""
    for code in warnings:
        out.note(
            out.style("! ", "yellow")
            + WARNINGS.get(code, CODES[code].meaning if code in CODES else code)
            + f" [{code}]"
        )


WARNINGS = {
    "index-behind": "Not everything is indexed yet; run `pi-context index update`.",
    "index-rebuilt": "The index was damaged or of another version; a new one was begun.",
    "lines-quarantined": "Some lines of the log could not be read; see `pi-context session verify`.",
    "candidate-limit": "More places match than were ranked; add a word or narrow the dates.",
    "scan-limit": "The log is too long to be read whole in one search; narrow the dates.",
    "project-session-limit": "Only the newest sessions of the project were searched.",
    "lineage-equals-branch": "This branch does not come from a rebase: its lineage is the branch itself.",
    "lineage-degraded": "A session that this one comes from is gone or was changed; only the others were searched.",
    "lineage-unverified": "The link to where this session comes from does not hold; only this branch was searched.",
    "query-has-no-searchable-terms": "The query holds no letter and no digit.",
    "lexical-retrieval-disabled": "Searching is switched off in the settings.",
    "query-shortened": "The query has very many words; the longest were used.",
    "more-lines": "There is more to read.",
    "ledger-unreadable": "What was removed cannot be read, so only this session was searched; try again.",
}
"""What each warning says to a person."""


def _here(call: Call) -> Here:
    if call.around.references is not None:
        return call.around.here(call.around.references)
    folders = shell_references.folders(call.around.own_folder, call.around.variables)
    return call.around.here(ShellReferences(folders, call.around.disk, environment.clock, environment.token))


def _change(call: Call, identity: str, *, add: bool) -> int:
    around = call.around
    wanted = {"add": identity} if add else {"remove": identity}
    changed = exclusions.change(around.own_folder, around.disk, **wanted)
    if call.out.json:
        call.out.answer({"session": identity, "excluded": add, "changed": changed})
    else:
        state = "kept out of every search but its own" if add else "searched again"
        call.out.say(f"{plain(identity)} is {state}." if changed else f"{plain(identity)}: nothing to do.")
    return 0


def show_hits(out: Output, answer: Json) -> None:
    """Show the hits of an answer."""
    for number, hit in enumerate(answer["hits"], 1):
        if number > 1:
            out.say()
        where = [
            hit.get("role") or hit["kind"],
            day(hit.get("timestamp", "")),
            hit["relation"],
            f"entry {hit['entryId']}",
        ]
        where += [hit["classification"]] if hit["classification"] != "normal" else []
        where += [hit["project"]] if "project" in hit else []
        out.say(out.style(f"{number}. ", "bold") + out.style(plain(" · ".join(filter(None, where))), "cyan"))
        for line in plain(hit["excerpt"]).split("\n"):
            out.say(f"   {line}")
        out.say(out.style(f"   read {hit['sourceRef']}" + _counts(hit), "dim"))
    if not answer["hits"]:
        out.say("Nothing found.")
    warn(out, answer["warnings"])


def _counts(hit: Json) -> str:
    """Tell what was taken out of a text, and where else it stands."""
    told = []
    if hit.get("redactions"):
        told.append(f"{hit['redactions']} redacted")
    if hit.get("masked"):
        told.append(f"{hit['masked']} masked")
    if hit.get("contextEdit"):
        told.append("taken out of the context by an edit")
    if hit.get("alsoIn"):
        told.append(
            "also in " + ", ".join(plain(f"{place['sessionId']}:{place['entryId']}") for place in hit["alsoIn"])
        )
    return "".join(f" · {part}" for part in told)


def _show_text(out: Output, answer: Json) -> None:
    where = [
        answer.get("role") or answer["kind"],
        day(answer.get("timestamp", "")),
        answer["relation"],
        f"entry {answer['entryId']}",
    ]
    out.say(out.style(plain(" · ".join(filter(None, where))), "cyan"))
    out.say(plain(answer["text"]))
    out.say(out.style(f"verified sha256 {answer['sha256']}" + _counts(answer), "dim"))
    if "nextLine" in answer:
        column = f" --start-column {answer['nextColumn']}" if "nextColumn" in answer else ""
        out.note(f"Goes on: pi-context history read {answer['sourceRef']} {answer['nextLine']}{column}")


def _show_status(out: Output, answer: Json) -> None:
    out.say(f"History tools: {'on' if answer['enabled'] else 'off'}")
    out.say(f"Scope: {answer['effectiveScope']}, index {'current' if answer['indexCurrent'] else 'behind'}")
    if lineage := answer.get("lineage"):
        out.say(f"Lineage: {lineage['verified']} of {lineage['generations']} earlier sessions verified")
    for name, number in answer.get("index", {}).items():
        out.say(f"  {name}: {number}")
    if answer["pendingRebase"]:
        out.say("A rebase was not finished: see `pi-context rebase --list`.")
    warn(out, answer["warnings"])
