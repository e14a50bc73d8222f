"""The words of a line that a person typed after `/context`: split as a shell does, read by the table of verbs."""

import re
import shlex
from collections.abc import Sequence

from pi_context.verbs import GLOBAL_OPTIONS, VERBS, Argument, Option, Verb, Words, flag, text

GROUPS = ("history", "session", "rebase", "pin", "unpin", "memory", "config")
_OFFERED = {"session": ("show", "list", "tree")}
_OPTIONS = ("audience", "reveal", "json", "verbose", "quiet")

BACK = flag("--back", help="Go back to the session that this one was made from")

OPTIONS: tuple[Option, ...] = tuple(option for option in GLOBAL_OPTIONS if option.name in _OPTIONS)
"""The global options that count here: Pi says all that the others would."""


_SCOPE = text("--scope", label="SCOPE", help="session, branch or project  [session]")
_REASON = text("--reason", label="TEXT", help="Why")
_TEXT, _ID = Argument("TEXT", rest=True), Argument("ID")
CHANGES: tuple[Verb, ...] = (
    Verb(("pin", "add"), "pin", "Keep a text through compactions and rebases", (_TEXT,), (_SCOPE,)),
    Verb(("unpin",), "unpin", "Let a pin go", (_ID,), (_REASON,)),
    Verb(("memory", "add"), "remember", "Let this session remember something", (_TEXT,), (_SCOPE,)),
    Verb(("memory", "supersede"), "supersede", "Put something newer in the place of a memory", (_ID, _TEXT)),
    Verb(("memory", "invalidate"), "invalidate", "Say that a memory was never true", (_ID,), (_REASON,)),
    Verb(("memory", "expire"), "expire", "Say that a memory is true no more", (_ID,), (_REASON,)),
)
"""What there is in Pi alone, for only Pi writes a session; `does` is the name of the change."""


def _here(verb: Verb) -> Verb:
    return verb._replace(options=(*verb.options, BACK)) if verb.words == ("rebase",) else verb


OFFERED: tuple[Verb, ...] = (
    tuple(
        _here(verb)
        for verb in VERBS
        if verb.words[0] in GROUPS
        and (len(verb.words) == 1 or verb.words[1] in _OFFERED.get(verb.words[0], verb.words))
    )
    + CHANGES
)
"""The commands that there are inside Pi."""

USAGE = (
    "Usage: /context [history search|read|status …] [session show|list|tree …] [rebase …] [pin|unpin|memory …]"
    " [config …] [help]"
)
"""What there is, on one line."""


_HINTS = {
    "no-session": "This Pi keeps no session file: start it without --no-session.",
    "server-unavailable": "Run `pi-context pi status` in a shell.",
}
_COMMAND = re.compile(r"`?\bpi-context ((?:[a-z]+ ?)+)[^`\n]*`?")


class UsageError(ValueError):
    """The words do not fit; the message is one line that says how they would."""


def in_pi(code: str, said: str) -> str:
    """Name commands as they are typed in Pi; what there is only in a shell is said to be so."""
    return _HINTS.get(code) or _COMMAND.sub(_typed_here, said)


def _typed_here(found: re.Match[str]) -> str:
    words = tuple(found[1].split())
    if any(words[: len(verb.words)] == verb.words for verb in OFFERED) or words[:1] in (("help",), ("config",)):
        return found[0].replace("pi-context ", "/context ", 1)
    return f"{found[0]} in a shell" if "in a shell" not in found.string[found.end() :][:12] else found[0]


def split(line: str) -> list[str]:
    """Split a line by the rules of a shell; where a quote has no end, at its spaces."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def read(words: Sequence[str]) -> tuple[Verb, Words]:
    """Read the words of a command. Raises UsageError."""
    import click

    from pi_context.command_line import grouped

    application = grouped("/context", "", OFFERED, OPTIONS, ())
    if words[0] == "pin" and len(words) > 1 and words[1] not in ("add", "list"):
        words = ("pin", "add", *words[1:])  # to pin is what is meant where nothing else is said
    try:
        found = application.main(args=list(words), prog_name="/context", standalone_mode=False)
    except click.UsageError as error:
        known = error.ctx is not None and error.ctx.parent is not None
        usage = " ".join(error.ctx.get_usage().split()) if known and error.ctx else USAGE
        raise UsageError(f"{error.format_message()} {usage}") from None
    except click.exceptions.Exit:
        raise UsageError(USAGE) from None
    if not isinstance(found, tuple):
        raise UsageError(USAGE)
    verb, given = found
    if verb.words == ("history", "search"):
        given["query"] = [_phrase(word) for word in given["query"]]
    return verb, given


def help_for(words: Sequence[str]) -> str:
    """Give the help of a command, or the list of all of them."""
    for verb in OFFERED:
        if words and verb.words == tuple(words):
            return _help_of(verb)
    chosen = [verb for verb in OFFERED if not words or verb.words[0] == words[0]]
    lines = [f"/context {_form(verb)}\n    {verb.help}" for verb in chosen or OFFERED]
    lead = (
        []
        if words
        else ["/context\n    How this session stands: its context window, the index, what a rebase would give"]
    )
    return "\n".join([*lead, *lines])


def _form(verb: Verb) -> str:
    arguments = [f"[{each.label}]" if each.optional else each.label + "…" * each.rest for each in verb.arguments]
    return " ".join([*verb.words, *arguments, *["[options]"] * bool(verb.options)])


def _help_of(verb: Verb) -> str:
    lines = [f"/context {_form(verb)}", verb.help + ".", verb.more.replace("\b", "").strip()]
    for option in (*verb.options, *OPTIONS):
        name = ", ".join(option.flags) + ("" if option.takes == "flag" else f" {option.takes.upper()}")
        lines.append(f"  {name:<28} {option.help}")
    return "\n".join(filter(None, lines))


def _phrase(word: str) -> str:
    """Keep together what stood between quotes: nobody here takes the quotes of a phrase away by mistake."""
    return f'"{word}"' if " " in word and '"' not in word else word
