"""Completes a line after `/context` from the table of verbs; reads nothing but, for operations, the journal."""

from collections.abc import Iterator

from foundation.canonical import Json
from foundation.errors import ContextError
from foundation.settings import SETTINGS
from pi_context.server.around import InsidePi
from pi_context.server.methods import Ask
from pi_context.server.words import GROUPS, OFFERED, OPTIONS
from pi_context.verbs import GROUPS as TOLD
from pi_context.verbs import Option, Verb

_MOST = 100
_Offer = tuple[str, str]


def complete(ask: Ask) -> Json:
    """Give what the last word of a line may become."""
    line: str = ask.params.line
    cut = max(line.rfind(" "), line.rfind("\t")) + 1
    before, begun = line[:cut], line[cut:]
    offers = (offer for offer in _offers(ask, before.split()) if offer[0].startswith(begun))
    found = [{"value": before + word, "label": word, "description": told} for word, told in offers]
    return {"completions": found[:_MOST]}


def _offers(ask: Ask, words: list[str]) -> Iterator[_Offer]:
    if not words:
        yield from ((name, TOLD.get(name, "Continue in a new, verified session")) for name in GROUPS)
        yield "help", "What there is"
        return
    if words[0] == "help":
        words = words[1:]
        if not words:
            yield from ((name, TOLD.get(name, "")) for name in GROUPS)
            return
    verb = next((verb for verb in OFFERED if verb.words == tuple(words[: len(verb.words)])), None)
    if verb is None:
        at = len(words)
        below = [verb for verb in OFFERED if verb.words[:at] == tuple(words) and len(verb.words) > at]
        told = {verb.words[at]: TOLD.get(" ".join(verb.words[: at + 1]), verb.help) for verb in below}
        yield from told.items()
        return
    yield from _within(ask, verb, words[len(verb.words) :])


def _within(ask: Ask, verb: Verb, given: list[str]) -> Iterator[_Offer]:
    """Offer what may follow the words of a command."""
    options = (*verb.options, *OPTIONS)
    last = next((option for option in options if given and given[-1] in option.flags), None)
    if last is not None and last.takes != "flag":
        yield from ((word, "") for word in _values(ask, last))
        return
    if not given and verb.words[0] == "config" and verb.arguments:
        yield from ((key, setting.meaning) for key, setting in SETTINGS.items())
    yield from (
        (option.flags[-1], option.help) for option in options if option.repeats or option.flags[-1] not in given
    )


def _values(ask: Ask, option: Option) -> list[str]:
    if option.name not in ("recover", "abandon"):
        return list(option.choices)
    from journal.reading import SetAside, listed
    from pi_context import operations
    from pi_context.commands.rebase_outcome import standing_of
    from rebase.operation import RECOVERABLE

    around = InsidePi(ask.state, ask.params.context)
    try:
        found = listed(operations.journal_in(around, operations.folder_of(around)))
    except (ContextError, OSError):
        return []
    return [
        record.operation_id
        for record in found
        if not isinstance(record, SetAside) and standing_of(record) == RECOVERABLE
    ]
