"""The whole command line by click, made from the table in `verbs`: groups, help, completion, mistakes."""

import sys
from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from foundation.canonical import dumps
from foundation.errors import CODES, INTERRUPTED, USAGE
from pi_context.verbs import DEFAULTS, GLOBAL_OPTIONS, GROUPS, VERBS, Argument, Option, Verb, Words, nothing_given
from pi_context.version import VERSION

PROGRAM = "pi-context"
_HELP = ("-h", "--help")

_SUMMARY = """Recall what a coding agent's sessions said, verified against the original log.

Everything stays on this machine; session logs are read and never written. Start with:

\b
  pi-context history search retry budget
  pi-context history read REF
  pi-context session tree
"""


def read(arguments: Sequence[str]) -> tuple[Verb, Words] | int:
    """Read a command line; an exit status where there is nothing to do (help, completion) or it does not fit."""
    try:
        found = application().main(args=list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        _tell(error, as_json="--json" in arguments)
        return USAGE
    return found if isinstance(found, tuple) else int(found or 0)


def application() -> click.Group:
    """Make the command with all its groups."""
    top = grouped(PROGRAM, _SUMMARY, VERBS, GLOBAL_OPTIONS, _HELP)
    top.params.append(
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, help="Print the version",
            callback=_print_version,
        )
    )  # fmt: skip
    return top


def grouped(
    name: str, summary: str, verbs: Sequence[Verb], options: Sequence[Option], help_options: Sequence[str]
) -> click.Group:
    """Make a command with its groups out of verbs, each of which takes these global options too."""
    top = _group(name, summary, options, help_options)
    for verb in verbs:
        place = top
        for number, group in enumerate(verb.words[:-1], 1):
            if group not in place.commands:
                path = " ".join(verb.words[:number])
                place.add_command(_group(group, GROUPS[path], options, help_options, DEFAULTS.get(path)), group)
            inner = place.commands[group]
            assert isinstance(inner, click.Group)
            place = inner
        place.add_command(_command(verb, options, help_options), verb.words[-1])
    return top


def _group(
    name: str, summary: str, options: Sequence[Option], help_options: Sequence[str], default: Verb | None = None
) -> click.Group:
    """Make a group; with a default verb its bare name does that."""

    def gather(**values: Any) -> tuple[Verb, Words] | None:
        known = _remember(values)
        if default is None or click.get_current_context().invoked_subcommand:
            return None
        return default, nothing_given(default) | known

    return click.Group(
        name, callback=gather, help=summary, params=[_option(option) for option in options],
        invoke_without_command=default is not None, no_args_is_help=default is None and bool(help_options),
        context_settings={"help_option_names": [*help_options], "max_content_width": 110},
    )  # fmt: skip


def _command(verb: Verb, options: Sequence[Option], help_options: Sequence[str]) -> click.Command:
    def done(**values: Any) -> tuple[Verb, Words]:
        given = nothing_given(verb) | _remember(values)
        return verb, {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}

    takes_rest = any(argument.rest for argument in verb.arguments)
    params: list[click.Parameter] = [_argument(argument) for argument in verb.arguments]
    params += [_option(option) for option in (*verb.options, *options)]
    return click.Command(
        verb.words[-1], callback=done, help=f"{verb.help}.\n{verb.more}", short_help=verb.help, params=params,
        context_settings={"ignore_unknown_options": takes_rest, "help_option_names": [*help_options]},
        hidden=verb.hidden,
    )  # fmt: skip


def _option(option: Option) -> click.Option:
    if option.takes == "flag":
        return click.Option([*option.flags, option.name], is_flag=True, default=None, help=option.help)
    kind: Any = click.Choice(option.choices) if option.takes == "choice" else int if option.takes == "N" else str
    complete = [CompletionItem(word) for word in option.choices]
    return click.Option(
        [*option.flags, option.name], type=kind, multiple=option.repeats, default=None, help=option.help,
        metavar=None if option.takes == "choice" else option.takes,
        shell_complete=(lambda _context, _param, start: [item for item in complete if item.value.startswith(start)])
        if complete and option.takes != "choice" else None,
    )  # fmt: skip


def _argument(argument: Argument) -> click.Argument:
    kind: Any = click.Choice(argument.choices) if argument.choices else int if argument.number else str
    if argument.rest:
        return click.Argument(
            [argument.name], nargs=-1, required=True, type=click.UNPROCESSED, metavar=f"{argument.label}..."
        )
    return click.Argument(
        [argument.name], required=not argument.optional, type=kind, metavar=None if argument.choices else argument.label
    )


def _remember(values: dict[str, Any]) -> dict[str, Any]:
    """Add what this level was given to what the levels above were given: global options may stand anywhere."""
    known: dict[str, Any] = click.get_current_context().ensure_object(dict)
    known.update({name: value for name, value in values.items() if value is not None and value != ()})
    return known


def _print_version(context: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's form
    if value:
        click.echo(f"{PROGRAM} {VERSION}")
        context.exit()


def _tell(error: click.ClickException, *, as_json: bool) -> None:
    """Say on stderr which words do not fit, in the shape of every other error."""
    if as_json:
        told = {"code": "usage", "message": error.format_message(), "hint": CODES["usage"].hint}
        sys.stderr.write(dumps({"error": told}) + "\n")
    else:
        error.show()


__all__ = ["application", "grouped", "read"]
