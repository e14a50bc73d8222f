"""Judges a value whose name promises a secret: real, or a placeholder, a word, a path, a piece of code.

`RULE` says it in words, for the documentation. Where no code can stand (`NAME=value` lines, flags of a command,
connection strings) a value counts as configuration and is judged a little more strictly.
"""

from privacy.secrets.letters import surprise
from privacy.secrets.shapes import (
    classes,
    is_address,
    is_call_id,
    is_code,
    is_hex,
    is_identifier,
    is_mask,
    is_path,
    is_placeholder,
    is_sequence,
    is_template,
    is_uuid,
)

RULE = (
    "Random: 12 or more characters (16 in code) that the letter model finds dearer than random ones, or 20 or more "
    "hexadecimal digits. If the name says password or secret, also what a person thinks up: 8 or more characters with "
    "a letter, a digit and a third class (the other case, or a mark), in code only if quoted or no identifier; in "
    "configuration a letter and a digit, or 6 characters of all four classes, or 4 words of 20 characters in sum. "
    "Never: masks, templates, filler words, sequences, paths, addresses, dotted names, ids of model providers; a UUID "
    "only if the name says password, secret or key."
)
_NO_PHRASE = frozenset(("password", "passwd", "pass", "secret", "token", "key", "name", "value", "user", "your", "my"))
_OWN_NAMES = ("password", "passwd", "secret")  # `"prompt1_password"` is rather a name than a password
_ODD_MARKS = frozenset("!#$%&*+?@^~")  # marks that names and words do not have
_SLACK_BITS = -0.4  # a character
_LEAST_OF_ALL_CLASSES = 6
_LEAST, _LEAST_RANDOM, _LEAST_RANDOM_IN_CODE, _LEAST_HEX = 8, 12, 16, 20
_LEAST_PHRASE, _LEAST_WORDS = 20, 4


def is_secret(value: str, *, human: bool, config: bool, quoted: bool, uuid: bool = False) -> bool:
    """Tell whether the value is a secret, given that its name promises one.

    `human` allows what a person thinks up, `uuid` allows a UUID; `config` and `quoted` tell how it is written.
    """
    if len(value) < _LEAST and not (human and config and len(value) >= _LEAST_OF_ALL_CLASSES and all(classes(value))):
        return False
    if is_uuid(value.rstrip(":,.")):
        return uuid
    if _is_filler(value):
        return False
    least = _LEAST_RANDOM if config else _LEAST_RANDOM_IN_CODE
    if len(value) >= least and is_random(value, config=config):
        return not (is_path(value) and surprise(value) < len(value) / 2) and not is_code(value)
    return human and _is_password(value, config=config, quoted=quoted)


def _is_filler(value: str) -> bool:
    return (
        is_mask(value)
        or is_template(value)
        or is_placeholder(value)
        or is_sequence(value)
        or is_address(value)
        or is_call_id(value)
    )


def is_random(value: str, *, config: bool) -> bool:
    """Tell whether the value looks like one that a machine drew; in configuration a little less is enough."""
    if " " in value or not any("a" <= char.lower() <= "z" for char in value):
        return False
    if is_hex(value):
        return len(value) >= _LEAST_HEX
    if _is_row_of_words(value):
        return False
    lower, upper, digit, _ = classes(value)
    odd = digit or (lower and upper and not _ODD_MARKS.isdisjoint(value))
    return surprise(value) > (_SLACK_BITS * len(value) if config and odd else 0)


def _is_row_of_words(value: str) -> bool:
    """Tell whether the value is short pieces of small letters with dashes between, however odd the words are."""
    pieces = value.replace("_", "-").split("-")
    return len(pieces) > 1 and all(
        piece.islower() and piece.isalpha() and len(piece) < _LEAST_RANDOM for piece in pieces
    )


def _is_password(value: str, *, config: bool, quoted: bool) -> bool:
    """Tell whether the value looks like one that a careful person thought up."""
    lower, upper, digit, mark = classes(value)
    if " " in value or is_path(value) or is_code(value) or not (lower or upper):
        return False
    if digit:
        if not config and any(word in value.lower() for word in _OWN_NAMES) and not (lower and upper and mark):
            return False
        enough = lower + upper + mark >= 2 or config  # noqa: PLR2004 - two more classes than the digits
        return enough and (quoted or config or not is_identifier(value))
    words = [word for word in value.lower().replace("_", "-").split("-") if word]
    phrase = len(value) >= _LEAST_PHRASE and len(words) >= _LEAST_WORDS and not _NO_PHRASE.intersection(words)
    return config and mark and phrase
