"""`pi-context rebase …`: which of its forms was asked for, and what does not go together."""

from foundation.errors import ContextError
from pi_context.call import Call
from pi_context.commands.rebase_operations import abandon, adopt, list_operations, recover
from pi_context.commands.rebase_preview import preview
from pi_context.commands.rebase_run import run
from pi_context.verbs import Words

_FORMS = ("dry_run", "list", "recover", "abandon", "adopt")
"""What may be asked for instead of a rebase, by the options that do so."""

_MEANT_FOR = {
    "show_handoff": ("dry_run",),
    "fit": ("dry_run", ""),
    "again": ("dry_run", ""),
    "confirm_plan": ("",),
}
"""The forms that an option means something to, empty for the rebase itself; what is not here is harmless anywhere."""


def rebase(call: Call) -> int:
    """Do what was asked for."""
    match form_of(call.words):
        case "dry_run":
            return preview(call)
        case "list":
            return list_operations(call)
        case "recover":
            return recover(call)
        case "abandon":
            return abandon(call)
        case "adopt":
            return adopt(call)
        case _:
            return run(call)


def form_of(words: Words) -> str:
    """Give the option that names the form, empty for the rebase itself; raises ContextError with `usage`."""
    asked = [form for form in _FORMS if words[form] not in (None, False)]  # an empty id asks for it too
    if len(asked) > 1:
        raise ContextError("usage", f"{_flag(asked[0])} and {_flag(asked[1])} do not go together.")
    form = asked[0] if asked else ""
    for option, forms in _MEANT_FOR.items():
        if words[option] not in (None, False) and form not in forms:
            beside = _flag(form) if form else "a rebase without --dry-run"
            raise ContextError("usage", f"{_flag(option)} means nothing to {beside}.")
    return form


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
