"""The plan of a rebase as a person reads it: whether it fits, what it costs, what stays behind, what to do next."""

from collections.abc import Iterator, Sequence
from typing import Any

from foundation.texts import RawText
from pi_context.call import Call
from pi_context.output import plain
from pi_context.showing import size
from privacy.redaction import redact
from rebase.draft import Way
from rebase.lineage import VERIFIED
from rebase.operation import RECOVERABLE
from rebase.plan import Plan
from rebase.preamble import GAVE_WAY, LEFT_OUT

WARNINGS = {
    "source-recently-changed": "The session changed within the last ten seconds: Pi may still be at work in it.",
    "lineage-degraded": "An older source of this session is gone or was changed; what it held is no longer found.",
    "source-went-on": "The old session went on after this one was made; what was said there since is not in it.",
    "folder-not-writable": "The session folder may not be written, so a rebase would be refused.",
    "recoverable": "An earlier rebase of this session was not finished; that comes first.",
    "memory-entry-malformed": "A pin or memory of the session is malformed; it does not count.",
    "memory-id-taken": "Two pins or memories have one id; the first counts.",
    "memory-item-unknown": "Something was changed in a pin or memory that is not there.",
    "memory-scope-crossed": "A pin or memory was to be replaced by one of another scope; that does not count.",
    "already-rebased": "This session was rebased already, and nothing was added since; --again makes another.",
}
"""What each warning of a rebase says to a person."""

_LARGEST = 8


def show(call: Call, plan: Plan, command: str) -> None:
    """Show the plan; `command` carries it out, empty where it is about to be."""
    out = call.out
    out.say(_verdict(call, plan))
    if plan.ways:
        out.say()
        out.draw(_table(("way out", "tokens", "how"), [_way(call, way) for way in plan.ways], right=(1,)))
    out.say()
    out.draw(_facts(call, plan))
    out.say()
    out.draw(_largest(call, plan))
    out.say()
    out.draw(_audiences(call, plan))
    for warning in plan.warnings:
        out.say()
        out.say(f"{out.style('Warning:', 'yellow')} {WARNINGS[warning]} [{warning}]")
    out.say()
    if plan.refusal:
        out.say(f"Nothing was written, and nothing can be until it fits. [{plan.refusal}]")
        return
    if not command:
        return
    what = "finish the earlier one" if RECOVERABLE in plan.warnings else "do it"
    out.say(f"Nothing was written. {f'To {what}' if call.around.owner else f'The owner can {what}'}:")
    out.say("  " + plain(command))


def _verdict(call: Call, plan: Plan) -> str:
    tokens = f"{'about ' if _is_estimated(plan) else ''}{plan.tokens:,} tokens"
    if plan.refusal:
        fitted = " even with --fit" if plan.fitted else ""
        told = f"It does not fit{fitted}: the handoff would take {tokens}, and its budget is {plan.budget:,}."
        return call.out.style(told, "bold", "red")
    fitted = " with --fit" if plan.gave_way else ""
    share = -(-100 * plan.tokens // plan.budget)
    return call.out.style(
        f"It fits{fitted}: the handoff takes {tokens} of {plan.budget:,} ({share} %).", "bold", "green"
    )


def _way(call: Call, way: Way) -> tuple[str, ...]:
    """Tell a way out, what it takes, and how to go it."""
    raised = f"pi-context config set sessionRebase.checkpointTargetTokens {way.budget} --global"
    tokens = f"{way.tokens:,}" if way.tokens else "?"
    if way.kind == "compact":
        return "compact first", tokens, "/compact in Pi; nobody knows before how much it leaves"
    if way.kind == "budget":
        return "a larger budget", tokens, raised
    budget = call.around.configuration.values["sessionRebase.checkpointTargetTokens"]
    return "let it give way", tokens, "--fit" if way.budget <= budget else f"--fit, after {raised}"


def _facts(call: Call, plan: Plan) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, told in _told(call, plan):
        table.add_row(name, Text(told))
    return table


def _told(call: Call, plan: Plan) -> Iterator[tuple[str, str]]:
    named = f"“{_safe(call, plan.name)}”, " if plan.name else ""
    yield "session", f"{named}{plan.entries:,} entries, {size(plan.source.size)}, to {_safe(call, plan.source.leafId)}"
    model = f"{_safe(call, '/'.join(plan.model))}, " if plan.model else ""
    yield "model", f"{model}thinking {_safe(call, plan.thinking_level)}"
    messages = sum(row.messages for row in plan.breakdown)
    whole = f", {messages - sum(plan.gave_way.values()):,} of them whole" if plan.gave_way else ""
    yield ("would go over" if plan.refusal else "goes over"), f"{messages:,} messages{whole}"
    if plan.gave_way:
        yield "gives way", _listed(f"{count:,} {GAVE_WAY[how]}" for how, count in plan.gave_way.items())
    yield (
        "stays behind",
        _listed(f"{left.count:,} {LEFT_OUT[kind]} ({size(left.bytes)})" for kind, left in plan.left_out.items()),
    )
    yield "class", plan.classification
    yield "secrets", f"{plan.redactions:,} taken out" if plan.redactions else "none in what is quoted"
    yield "tool calls", _exchanges(plan)
    yield "pins, memories", f"{len(plan.kept.pins):,}, {len(plan.kept.memories):,}"
    yield "lineage", _lineage(plan)
    yield "plan", plan.plan_id


def _is_estimated(plan: Plan) -> bool:
    """Tell whether the oldest messages were too many to be measured."""
    return any(row.estimated for row in plan.breakdown)


def _exchanges(plan: Plan) -> str:
    told = "all whole"
    if plan.interrupted:
        told += f", {plan.interrupted:,} interrupted ones shown as such"
    if plan.diagnostics.historical:
        told += f"; {plan.diagnostics.historical:,} cut ones stay in the archive"
    return told


def _lineage(plan: Plan) -> str:
    lost = sum(each.state != VERIFIED for each in plan.generations)
    told = f"depth {plan.depth}: "
    if not plan.generations:
        return told + "this session alone"
    told += f"this session and {len(plan.generations)} before it"
    return told + (f", {lost} of them lost" if lost else ", all verified")


def _largest(call: Call, plan: Plan) -> Any:
    rows = sorted(plan.breakdown, key=lambda row: -row.tokens)[:_LARGEST]
    whole = sum(row.tokens for row in plan.breakdown) or 1
    return _table(
        ("largest", "speaker", "class", "tokens", "share"),
        [
            (
                _safe(call, row.entry_id) + (f" and {row.messages - 1:,} more" if row.messages > 1 else ""),
                row.role,
                row.classification,
                ("~" if row.estimated else "") + f"{row.tokens:,}",
                f"{100 * row.tokens // whole} %",
            )
            for row in rows
        ],
        right=(3, 4),
    )


def _audiences(call: Call, plan: Plan) -> Any:
    names = {"local": "you", "": "any other provider"}
    return _table(
        ("who would see it", "messages", "tokens", "omitted"),
        [
            (
                names.get(seen.audience) or _safe(call, seen.audience),
                f"{seen.messages:,}",
                f"{seen.tokens:,}",
                f"{seen.omitted:,}",
            )
            for seen in plan.audiences
        ],
        right=(1, 2, 3),
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, name in enumerate(header):
        table.add_column(name, justify="right" if at in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _listed(told: Iterator[str]) -> str:
    return ", ".join(told) or "nothing"


def _safe(call: Call, text: str) -> str:
    """Take secrets out before a narrow terminal could cut one in two."""
    return plain(text if call.out.revealing else redact(RawText(text)).text)
