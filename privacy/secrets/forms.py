r"""The ways to write a name and its value, as one RE2 pattern; and which of them a match is.

`NAME=value`, `"name": "value"`, `<name>value`, `name="n" value="v"`, `--name value`; the value on the next line, alone
or as a block of YAML; `**Name:** value` and `| name | value |` in Markdown; `call("name", "value")`, `ENV NAME value`;
a list of words as tools take it, one on a line. A name with an escaped quote or sign behind it counts for the second
look only.
"""

import functools
import re

from privacy.secrets.edges import line_starts
from privacy.secrets.escaped import QUOTED

_WORD = (
    rb"(?i:passw(?:or)?d|passwort|passphrase|passcode|pwd|secret|token|credential|api[ _-]?key|"
    rb"(?:access|private|account|shared|secret|storage|signing|signature|encryption|encrypt|master|service|auth|app|"
    rb"license|subscription|deploy|webhook|client|admin|hmac|jwt|aes|session|cookie|function)[ _-]?key|authorization)"
    rb"[A-Za-z0-9_.-]*"
    rb"|(?i:auth|pass|creds?|jwt)(?:[0-9A-Z_.-][A-Za-z0-9_.-]*)?|_(?i:pw|pat)|_KEY"
)
_SIGN = rb"(?:=>|:=|\?=|\|\|=|===?|[:=])"
_BREAK = rb"(?:\\*\r?\n|(?:\\+r)?\\+n)"
_INDENT = rb"(?:[ \t]|\\+t)*"
_NEXT_LINE = _BREAK + _INDENT + rb"[+-]?" + _INDENT
_NAMED = rb"(?:\\*[\"'`]|\*\*)?[\])]?[ \t]*" + _SIGN
_VALUE = rb"[ \t]*[^\s(){}\[\],;|&=:]"
_IN_PLACE = (
    b"(?:"
    + _NAMED
    + rb"(?:[ \t]*[|>][+-]?[0-9]?[+-]?[ \t]*" + _NEXT_LINE + rb"|\*\*|__)?"
    + rb"|>|(?:\\*`|\*\*)?[ \t]*\|(?:[ \t]*\*\*)?"
    + rb"|\\*[\"']?,?(?:\s|\\+[nr])*[+-]?[ \t]*\\*[\"']?(?:[A-Za-z0-9_.-]*\.)?(?i:value)\\*[\"']?[ \t]*[:=])"
    + _VALUE
)  # fmt: skip
_QUOTED_LATER = _NAMED + rb"[ \t]*\(?" + _NEXT_LINE + rb"[\\\"'`]"
_ARGUMENT = rb"\\*[\"'],[ \t]*[\\\"'`]"
_ESCAPED = b"(?:[ \t]*" + _SIGN + b"[ \t]*)?" + QUOTED
_FLAG = (
    rb"--[a-z-]*(?:password|passwd|passphrase|token|secret|api-?key|access-?key)[a-z-]*"
    rb"(?:[ \t]+(?:(?:\\+\r?\n|\\{3,}n)"
    + _INDENT
    + rb"[+-]?"
    + _INDENT
    + rb")?|\\*[\"'],[ \t]*(?:"
    + _NEXT_LINE
    + rb")?|\r?(?:\n|\\+n)(?:[A-Za-z_][A-Za-z0-9_.-]*:[ ])?)"
    + _VALUE
)
_SETTER = rb"(?:ENV|setenv|setx|set[ \t]+-[a-zA-Z]*x[a-zA-Z]*|config(?:ure)?[ \t]+set)[ \t]+"
_SET = _SETTER + rb"[A-Za-z0-9_.:/-]*(?:" + _WORD + rb")[ \t]+" + _VALUE
TRIGGER = (
    b"(?:(?:" + _WORD + b")(?:" + b"|".join((_ESCAPED, _QUOTED_LATER, _IN_PLACE, _ARGUMENT)) + b")|"
    + _FLAG + b"|" + _SET + b")"
)  # fmt: skip
NAME_STARTS = (
    b"pass", b"pwd", b"secre", b"token", b"cred", b"api", b"acces", b"priva", b"accou", b"share", b"stora", b"sign",
    b"encry", b"maste", b"servi", b"auth", b"app", b"licen", b"subsc", b"deplo", b"webho", b"clien", b"admin", b"hmac",
    b"jwt", b"aes", b"sessi", b"cooki", b"funct", b"_pw", b"_pat", b"_key", b"--", b"env", b"seten", b"setx", b"set",
    b"confi",
)  # fmt: skip
"""What the matches start with, in small letters."""

_BLOCK = rb"[:=][ \t]*[|>][+-]?[0-9]?[+-]?[ \t]*" + _NEXT_LINE
_LIST_ITEM = rb"(?:\n|\\+n)((?:[A-Za-z_][A-Za-z0-9_.-]*:[ ])?)\Z"
_NEAR = 16


@functools.cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def name_place(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Give `[start, end)` of a part of the name in a match: all of it before the value, or the word that is set."""
    setter = _compiled(_SETTER).match(data, start, end)
    if not setter:
        return start, end
    stop = setter.end() + len(data[setter.end() : end].rstrip(b" \t"))
    return stop, stop


def is_escaped(matched: bytes) -> bool:
    """Tell whether a match ends with an escaped quote or sign: there is no value to read before it was decoded."""
    return _compiled(QUOTED + rb"\Z").search(matched[-64:]) is not None


def is_block(between: bytes) -> bool:
    """Tell whether a value is the first line of a block of YAML, as `name: |` starts one."""
    return _compiled(_BLOCK).search(between) is not None


def is_cell(between: bytes) -> bool:
    """Tell whether name and value are two cells of a table."""
    return between.rstrip(b" \t*").endswith(b"|") and b"=" not in between and b":" not in between


def is_bold(between: bytes) -> bool:
    """Tell whether the name is printed bold, as `**Name:** value` is in Markdown."""
    return b"**" in between or between.rstrip().endswith(b":__")


def is_argument(between: bytes) -> bool:
    """Tell whether name and value are neighbours in a list of strings."""
    return between.strip().lstrip(b"\\")[1:] == b","


def follows(data: bytes, first: int, marks: tuple[bytes, ...]) -> bool:
    """Tell whether one of the marks stands before a name, apart from blanks, quotes and bold type."""
    return data[max(0, first - _NEAR) : first].rstrip(b" \t\r\n\"'`*\\").endswith(marks)


def is_next_item(data: bytes, first: int, between: bytes) -> bool:
    """Tell whether a flag and the value on the line after it are two items of one list, written alike."""
    item = _compiled(_LIST_ITEM).search(between)
    if item is None:
        return True
    start = first - len(item[1])
    return data.endswith(item[1], 0, first) and (line_starts(data, start) or data[start - 1 : start] in (b'"', b"'"))
