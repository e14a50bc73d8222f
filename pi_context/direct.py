"""The short way past click for what is asked most: a well-formed search or read costs no import of click.

Takes only what it fully understands, by the same table; everything else (help, mistakes, other commands) is None, and
click says what there is to say. A test holds the two ways equal.
"""

from collections.abc import Container, Sequence

from pi_context.verbs import VERBS, Option, Verb, Words, nothing_given, options_of

_HOT = {("history", "search"), ("history", "read"), ("history", "status"), ("serve",)}
_STOPS = ("-h", "--help", "--version")


def parse(words: Sequence[str]) -> tuple[Verb, Words] | None:
    """Read a command line; None where click must."""
    hot = [verb for verb in VERBS if verb.words in _HOT]
    options = {flag: option for verb in hot for option in options_of(verb) for flag in option.flags}
    values: list[tuple[str, str | None]] = []
    plain: list[str] = []
    left = list(reversed(words))
    while left:
        word = left.pop()
        if word == "--" and len(plain) >= len(hot[0].words):
            plain += reversed(left)
            break
        if word in _STOPS:
            return None
        flag, equals, value = word.partition("=")
        option = options.get(flag)
        if option is None:
            if _may_cluster(word, options):
                return None
            plain.append(word)
        elif option.takes == "flag":
            if equals:
                return None
            values.append((flag, None))
        else:
            if not equals and not left:
                return None
            values.append((flag, value if equals else left.pop()))
    verb = next((verb for verb in hot if verb.words == tuple(plain[: len(verb.words)])), None)
    if verb is None:
        return None
    given = _filled(verb, plain[len(verb.words) :], values)
    return (verb, given) if given is not None else None


def _may_cluster(word: str, flags: Container[str]) -> bool:
    """Tell whether click may see short options in a word: it reads `-vx` as `-v -x`."""
    return word[:1] == "-" != word[1:2] and any(f"-{letter}" in flags or f"-{letter}" in _STOPS for letter in word[1:])


def _filled(verb: Verb, plain: list[str], values: list[tuple[str, str | None]]) -> Words | None:
    known = {flag: option for option in options_of(verb) for flag in option.flags}
    given = nothing_given(verb)
    for flag, value in values:
        option = known.get(flag)
        if option is None or not _put(given, option, value):
            return None
    for argument in verb.arguments:
        if argument.rest:
            if not plain:
                return None
            given[argument.name], plain = plain, []
        elif plain:
            word = plain.pop(0)
            if argument.number and not _is_number(word):
                return None
            given[argument.name] = int(word) if argument.number else word
        elif not argument.optional:
            return None
    return given if not plain else None


def _put(given: Words, option: Option, value: str | None) -> bool:
    """Set an option's value; False where it is not one that the option takes."""
    if value is None:
        given[option.name] = True
    elif option.takes == "N":
        if not _is_number(value):
            return False
        given[option.name] = int(value)
    elif option.takes == "choice" and value not in option.choices:
        return False
    elif option.repeats:
        given[option.name].append(value)
    else:
        given[option.name] = value
    return True


def _is_number(word: str) -> bool:
    digits = word.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 10  # noqa: PLR2004 - no option takes more
