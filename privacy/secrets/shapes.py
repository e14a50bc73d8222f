"""What a value looks like: a mask, a placeholder, an id, a path, a piece of code, or possibly a secret.

Pure judgements over short strings; nothing here knows where the value stood.
"""

import functools
import itertools
import re

_MASK = frozenset("xX0*.-_#?•…")
_FILLER_WORDS = (  # a longer word before a shorter one that it starts with
    "please replace change insert enter provide choose specify fill redacted removed hidden masked omitted "
    "placeholder example sample dummy fake mock stub demo testing test todo fixme none null nil undefined unset "
    "empty default word passwort password passwd passphrase passcode pass pwd secret token credentials credential "
    "auth api access private public client username user admin root guest login key value string text here your you "
    "the my me our some this is to with at least more than characters character chars char jwt not real valid "
    "invalid wrong bad good old new super very strong weak secure insecure random long bot 456 789 foo bar baz qux "
    "quux spam eggs hello world abcdefgh abcdef abc xyz asdf qwerty name host db app id env var"
)
_FILLER = r"x{2,}|0{3,}|1{3,}|123(?:4(?:5(?:6(?:7(?:89?0?)?)?)?)?)?|[^a-z0-9]"
_PADDING = 8
_ENOUGH = 4  # characters of its own that a value needs
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_WORD = "(?:[A-Z]?[a-z]+|[A-Z]+)"
_CONSTANT = r"[A-Z]+(?:_[A-Z]+)+"
_PATTERN = r"\(\?|\[\^?\\?[A-Za-z0-9]-[A-Za-z0-9]|\{[0-9]+,|\\[dwsbDWSB]\b|\[\^|\(\)"
_TEMPLATE = (
    r"&lt;|\$\{|\$\(|(?<![A-Za-z0-9$])\$[A-Za-z_]|\{\{|<%|%\(|^%[A-Z_]+%$|#\{|\{[A-Za-z_.]*\}|<[A-Za-z][^<>]*>|^@[A-Z_]+$|@@|\[redacted:"
    r"|\.\.\.|…|\*{3}|•{3}"
)
_CODE = r"[A-Za-z_$][\w$]*(?:(?:\.|\?\.|::|->)[A-Za-z_$#][\w$]*)+"  # a.b, a?.b, a::b, a->b
_PATH = r"(?:[A-Za-z]:|~|\.{1,2})?[/\\][\w.@+-]*(?:[/\\][\w.@+-]*)*|[\w.-]+(?:/[\w.@-]+)*\.[a-z]{1,4}[0-9]?"
_CALL_ID = r"(?:call|toolu|fc|rs|msg|req|resp|chatcmpl|run|thread|asst|file|evt)_[A-Za-z0-9_-]+"


@functools.cache
def _compiled(pattern: str, *, ignore_case: bool) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII | (re.IGNORECASE if ignore_case else 0))


@functools.cache
def _filler() -> re.Pattern[str]:
    return re.compile("|".join([*_FILLER_WORDS.split(), _FILLER]))


def is_mask(value: str) -> bool:
    """Tell whether the value is made of filler alone, such as `xxxxxxxx` or `********`."""
    return _MASK.issuperset(value)


def is_padded(value: str) -> bool:
    """Tell whether one character stands eight times in a row, as in a mask or in the base64 of zeros."""
    return any(char * _PADDING in value for char in set(value))


def is_template(value: str) -> bool:
    """Tell whether something is still to be put in, or to be matched: `${NAME}`, `<name>`, `abc...`, `[a-z]`."""
    return _compiled(f"{_TEMPLATE}|{_PATTERN}", ignore_case=False).search(value) is not None


def is_placeholder(value: str) -> bool:
    """Tell whether hardly more than filler words such as `your`, `changeme`, `example` and `123` are in the value."""
    if "example" in value.lower():
        return True
    return len(_filler().sub("", value.lower())) < _ENOUGH


def is_sequence(value: str) -> bool:
    """Tell whether most characters follow the one before, as in `abcdefgh` and `12345678`, or repeat it."""
    codes = [ord(char) for char in value.lower()]
    steps = sum(1 for first, second in itertools.pairwise(codes) if second - first in (-1, 0, 1))
    return steps * 3 >= 2 * (len(codes) - 1)


def is_uuid(value: str) -> bool:
    """Tell whether the value is a UUID."""
    return _compiled(_UUID, ignore_case=True).fullmatch(value) is not None


def is_hex(value: str) -> bool:
    """Tell whether the value is a hexadecimal number with letters and digits in it."""
    return all(char in "0123456789abcdefABCDEF" for char in value) and not value.isdigit() and not value.isalpha()


def is_code(value: str) -> bool:
    """Tell whether the value reads as a name of a program: `token.value`, `Config::TOKEN`, `AUTH_TOKEN`."""
    return _compiled(f"{_CODE}|{_CONSTANT}", ignore_case=False).fullmatch(value) is not None


def is_address(value: str) -> bool:
    """Tell whether the value is a URL, a URN or the name of a cloud resource."""
    return "://" in value or value.startswith(("arn:", "urn:"))


def is_path(value: str) -> bool:
    """Tell whether the value is a path, a file name or an address."""
    return is_address(value) or _compiled(_PATH, ignore_case=False).fullmatch(value) is not None


def is_plain_words(value: str) -> bool:
    """Tell whether the value is words as prose has them: small letters, a capital in front, joiners between."""
    return _compiled(f"{_WORD}(?:[_.-]{_WORD})*", ignore_case=False).fullmatch(value) is not None


def is_identifier(value: str) -> bool:
    """Tell whether the value could be the name of a variable."""
    return value.isidentifier() or value.replace("$", "_").isidentifier()


def is_call_id(value: str) -> bool:
    """Tell whether the value is one of the ids that model providers give to calls, messages and files."""
    return _compiled(_CALL_ID, ignore_case=False).fullmatch(value) is not None


def classes(value: str) -> tuple[bool, bool, bool, bool]:
    """Tell which of lower case, upper case, digits and other characters the value has."""
    return (
        any("a" <= char <= "z" for char in value),
        any("A" <= char <= "Z" for char in value),
        any("0" <= char <= "9" for char in value),
        any(not char.isascii() or not char.isalnum() for char in value),
    )
