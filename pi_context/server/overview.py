"""How the session stands, without a word of what it says: window, compactions, index, operations, rebase."""

from collections.abc import Iterator
from typing import Any

from foundation.canonical import Json, dumps, tokens
from foundation.errors import ContextError, foreseen
from index import health
from index.fresh import with_index
from journal.reading import SetAside, listed
from pi_context import operations, rebases
from pi_context.commands.rebase_outcome import standing_of
from pi_context.output import plain
from pi_context.server.around import InsidePi
from pi_context.server.methods import Ask
from pi_context.server.words import in_pi
from pi_context.showing import size
from rebase.operation import RECOVERABLE
from rebase.plan import Plan
from sessions.context import Context, resolve

_IMAGE_TOKENS = 1200
"""As Pi estimates one."""


def overview(ask: Ask) -> Json:
    """Tell how the session stands: numbers, ids and codes."""
    around = InsidePi(ask.state, ask.params.context)
    around.require_user()
    if around.session is None:
        return _nothing_yet("session-unsaved" if around.pi.session_file else "no-session")
    context = resolve(around.session.path, leaf=around.words["leaf"])
    usage = _usage(context)
    told: Json = {
        "usage": usage,
        "tokens": sum(row["tokens"] for row in usage),
        "compactions": context.compactions,
        "index": _index(around),
        "pendingOperations": _pending(around),
        "rebase": _rebase(around),
    }
    return {"text": _text(told), **told}


def _nothing_yet(code: str) -> Json:
    """Tell somebody who begins what there will be."""
    known = ContextError(code)
    lines = [known.message, in_pi(code, known.hint), "/context help lists what there is."]
    return {"text": "\n".join(lines), "code": code}


def estimated(context: Context) -> int:
    """Estimate the tokens of a context, where Pi has counted none."""
    return sum(row["tokens"] for row in _usage(context))


def _usage(context: Context) -> list[Json]:
    """Count messages and tokens by who spoke, results by their tool; the largest first."""
    counts: dict[tuple[str, str], list[int]] = {}
    for message in context.messages:
        if isinstance(message, dict):
            for role, tool, size_ in _parts(message):
                row = counts.setdefault((role, tool), [0, 0])
                row[0] += 1
                row[1] += size_
    rows = sorted(counts.items(), key=lambda item: -item[1][1])
    return [
        {"role": role, **({"tool": tool} if tool else {}), "messages": number, "tokens": size_}
        for (role, tool), (number, size_) in rows
    ]


def _parts(message: Json) -> Iterator[tuple[str, str, int]]:
    role = message.get("role")
    name = message.get("toolName") if role == "toolResult" else None
    texts = [message.get(field) for field in ("summary", "command", "output")]
    size_ = _tokens_of(message.get("content")) + sum(tokens(text) for text in texts if isinstance(text, str))
    yield role if isinstance(role, str) else "?", name if isinstance(name, str) else "", size_


def _tokens_of(content: Any) -> int:
    if isinstance(content, str):
        return tokens(content)
    return sum(_block(block) for block in content) if isinstance(content, list) else 0


def _block(block: Any) -> int:
    if not isinstance(block, dict):
        return 0
    match block.get("type"):
        case "text" | "thinking":
            text = block.get(str(block["type"]))
            return tokens(text) if isinstance(text, str) else 0
        case "toolCall":
            return tokens(str(block.get("name"))) + tokens(dumps(block.get("arguments")))
        case "image":
            return _IMAGE_TOKENS
    return 0


def _index(around: InsidePi) -> Json | None:
    assert around.session is not None
    files = [around.session]
    found = with_index(
        around.own_folder, around.disk, lambda db, _: health.state(db, around.own_folder, files) if db else None
    )
    if found is None:
        return None
    current = not (found.files_behind or found.detectors_behind or found.unfinished)
    return {"current": current, "filesBehind": found.files_behind, "bytesBehind": found.behind}


def _pending(around: InsidePi) -> list[Json]:
    return [
        {"operationId": record.operation_id, "phase": record.phase}
        for record in listed(operations.journal_in(around, operations.folder_of(around)))
        if not isinstance(record, SetAside) and standing_of(record) == RECOVERABLE
    ]


def _rebase(around: InsidePi) -> Json:
    """Tell what a rebase would give now, by a plan that writes nothing."""
    try:
        plan = rebases.planned(around, leaf=around.words["leaf"], fitted=False, owner=True)
    except Exception as error:
        known = foreseen(error)
        if known is None:
            raise
        return {"status": "unavailable", "code": known.code}
    if not plan.refusal:
        return {"status": "preview", "tokens": plan.tokens, "budget": plan.budget}
    return {"status": "unavailable", "code": plan.refusal, "tokens": plan.tokens, "budget": plan.budget} | _fit(plan)


def _fit(plan: Plan) -> Json:
    fitting = [way.tokens for way in plan.ways if way.kind == "fit" and way.budget <= plan.budget]
    return {"fitTokens": fitting[0]} if fitting else {}


def _text(told: Json) -> str:
    lines = [f"Context: about {told['tokens']:,} tokens, {told['compactions']} compactions on this branch"]
    for row in told["usage"]:
        name = row["role"] + (f" {row['tool']}" if "tool" in row else "")
        lines.append(f"  {plain(name):<28} {row['messages']:>6,} messages {row['tokens']:>9,} tokens")
    index = told["index"]
    if index is None:
        lines.append("Index: unavailable")
    else:
        lines.append("Index: current" if index["current"] else f"Index: {size(index['bytesBehind'])} behind")
    pending = [
        f"Unfinished: {each['operationId']} ({each['phase']}): /context rebase --recover ID"
        for each in told["pendingOperations"]
    ]
    return "\n".join([*lines, *pending, _rebase_line(told["rebase"])])


def _rebase_line(rebase: Json) -> str:
    if rebase["status"] == "preview":
        return f"Rebase: would begin with {rebase['tokens']:,} of {rebase['budget']:,} tokens: /context rebase"
    if "tokens" not in rebase:
        return f"Rebase: not now [{rebase['code']}]"
    way = f", with --fit {rebase['fitTokens']:,}" if "fitTokens" in rebase else ""
    return f"Rebase: would take {rebase['tokens']:,} of {rebase['budget']:,} tokens{way} [{rebase['code']}]"
