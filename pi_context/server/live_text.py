"""What a person inside Pi reads about a rebase: in Pi's own words for what to type next."""

from foundation.canonical import Json
from pi_context.call import Call
from pi_context.captured import Captured
from pi_context.commands import rebase_shown
from pi_context.commands.rebase_outcome import ABANDONED, VERIFIED
from pi_context.output import plain
from pi_context.server.words import in_pi
from pi_context.showing import size
from rebase.operation import ALREADY_REBASED
from rebase.plan import Plan
from rebase.preamble import GAVE_WAY, LEFT_OUT


def _left_behind(answer: Json) -> str:
    """Say what the new session does not begin with; empty where nothing is known of it."""
    gone = [f"{left['count']:,} {LEFT_OUT[kind]}" for kind, left in answer.get("leftOut", {}).items()]
    cut = [f"{count:,} {GAVE_WAY[how]}" for how, count in answer.get("gaveWay", {}).items()]
    return ", ".join([*gone, *cut])


_WAYS = (
    "Go back: /context rebase --back\n"
    "Find what is no longer in the window: /context history search QUERY --scope current-lineage"
)


def plan_text(call: Call, plan: Plan) -> str:
    """Show a plan as the shell does."""
    out = Captured(call.words, columns=100)
    rebase_shown.show(Call(call.words, call.around, out), plan, "")
    return in_pi("", out.text)


def plan_summary(plan: Plan) -> str:
    """Say in a few lines what a person agrees to."""
    messages = sum(row.messages for row in plan.breakdown)
    if plan.refusal:
        ways = ", ".join(f"{way.kind} ({way.tokens:,} tokens)" if way.tokens else way.kind for way in plan.ways)
        return f"It does not fit: {plan.tokens:,} tokens, budget {plan.budget:,}. Ways out: {ways}. [{plan.refusal}]"
    begins = f"{plan.tokens:,} of {plan.budget:,} tokens"
    shortened = f", {sum(plan.gave_way.values()):,} of them shortened" if plan.gave_way else ""
    lines = [
        f"{plan.entries:,} entries ({size(plan.source.size)}) become a new session that begins with {begins}.",
        f"{messages:,} messages go over{shortened}; class {plan.classification}, {plan.redactions:,} secrets out.",
        "This session stays as it is, and Pi switches to the new one.",
    ]
    return "\n".join([*lines, *(f"Warning: {rebase_shown.WARNINGS[code]}" for code in plan.warnings)])


def refusal_text(answer: Json) -> str:
    """Say why nothing was done."""
    return plain(f"{answer['message']} [{answer['code']}]\n{in_pi(answer['code'], answer['hint'])}")


def outcome_text(answer: Json, window_tokens: int | None = None) -> str:
    """Say how an operation ended; `window_tokens` is what Pi counted before it."""
    identity, status = answer["operationId"], answer["status"]
    if status == VERIFIED:
        before = f"of {window_tokens:,} tokens in the window before, " if window_tokens else ""
        lines = [f"Rebased: {before}this session begins with {answer['checkpointTokens']:,}, verified from the disk."]
        lines += [f"No longer in the window: {left}." for left in [_left_behind(answer)] if left]
        lines += [rebase_shown.WARNINGS[code] for code in answer["warnings"] if code in rebase_shown.WARNINGS]
        return plain("\n".join([*lines, _WAYS]))
    if status == ALREADY_REBASED:
        return "This session was rebased already, and nothing was added to it since. Once more all the same: --again"
    if status == ABANDONED:
        return "The operation was taken back; nothing of it is left, and the session is untouched."
    left = f"\nThis session is untouched. /context rebase --recover {identity}, or --abandon {identity}"
    return refusal_text(answer) + (plain(left) if status == "recoverable" else "")
