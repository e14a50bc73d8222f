r"""Reads a name with its value, however the two are written.

`NAME=value`, `name: "value"`, `"name": "value"`, `name = 'value'`, `<name>value</name>`, `name="n" value="v"`,
`--name value`, `Authorization: Bearer value`; the same with backslashes before the quotes. The value is read as far
as `FAR` bytes at first, so that no text can make the reading long; what is found to be a secret is followed further.
"""

import functools
import re
from typing import NamedTuple

from privacy.secrets.edges import line_ends, line_starts
from privacy.secrets.forms import is_block, is_bold, is_cell
from privacy.secrets.quoted import Quoted, read
from privacy.secrets.runs import LONGEST

FAR = 512
_LOOK_BACK = 64
_QUOTES = (b'"', b"'")
_LEAST_SHOUTED = 4
_BEFORE_NAME = (
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b'"',
    b"'",
    b"`",
    b";",
    b"&",
    b"?",
    b",",
    b"(",
    b"[",
    b"+",
    b"-",
    b"|",
    b">",
    b":",
)
_BARE = rb"[^\s\x00-\x1f\x7f\"'`<>(){}\[\],;|&\\=]+={0,2}"
_WHOLE_LINE = rb"[^\s\x00-\x1f\x7f\"'`\\${<][^\s\x00-\x1f\x7f\"'`\\]*(?=[ \t]*(?:\r?\n|\\+[nr]|\\*[\"'`]|\Z))"
_OTHER = rb"[,;&|][A-Za-z_][A-Za-z0-9_]*=|^[A-Za-z_][A-Za-z0-9_.]*\(.*\)[,;]?$"  # another setting, or a call
_NAME = rb"[A-Za-z0-9_.-]*(?:(?<=[A-Za-z]) (?i:key)[A-Za-z0-9_.-]*)?"
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_COLOUR = rb"(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;]{0,12}m"
_LONGEST_COLOUR = 16
_LEAD = (  # a type before the value, a call around it
    rb"[ \t]*(?:[A-Za-z_][A-Za-z0-9_.<>\[\]| ]{0,60}=[ \t]*(?=\\*[\"'])|"
    rb"(?:new[ ])?[A-Za-z_][A-Za-z0-9_.:]{0,40}!?\((?=\\*[\"']))"
)
_SCHEME = rb"(?i:token|apikey|api-key|bot|key|digest)[ \t]+"  # Bearer and Basic have a detector of their own
_CELL = rb"(?:\\*`)?([^\s\x00-\x1f\x7f\"'`|\\]+)(?:\\*`)?[ \t]*(?:\*\*[ \t]*)?(?:\||\r?\n|\\+[nr]|\Z)"
_ELEMENT = rb"(?:<!\[CDATA\[)?([^<>\s]{1,512}?)(?:\]\]>)?</"


class Place(NamedTuple):
    """Where a value is and how it is written.

    `lead` is where it starts, `start` where the secret part of it starts (behind a word such as Token). `text` is
    the value without line breaks, as far as it was read; `config` tells that no code can stand here.
    """

    lead: int
    start: int
    end: int
    text: str
    quoted: bool
    config: bool


@functools.cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def name_around(data: bytes, start: int, end: int) -> tuple[int, str]:
    r"""Give where the name that holds `[start, end)` begins, and the name; looks back 64 bytes at most.

    The `n` of a `\n` and the `m` of a colour before it are no part of it.
    """
    window = data[max(0, start - _LOOK_BACK) : start]
    first = start - (len(window) - len(window.rstrip(_NAME_BYTES)))
    if first < start and data[first - 1 : first] == b"\\" and data[first : first + 1] in b"nrtbf":
        first += 1
    if b"[" in data[max(0, first - _LONGEST_COLOUR) : first]:
        colours = [*_compiled(_COLOUR).finditer(data, max(0, first - _LONGEST_COLOUR), start)]
        first = max(first, colours[-1].end()) if colours else first
    found = _compiled(_NAME).match(data, first, end)
    return first, found[0].decode("ascii") if found else ""


def value_behind(data: bytes, first: int, name: str, at: int) -> Place | None:
    """Read the value that starts at `at`, behind the name that starts at `first`; None where there is none."""
    exact = data[first + len(name) : at]
    between = exact.strip()
    alone = next((reader for writes, reader in _READERS if writes(exact)), None)
    if alone:
        return alone(data, at)
    if between.endswith((b":", b"=")):
        lead = _compiled(_LEAD).match(data, at, at + 120)
        at = lead.end() if lead else at
    word = name.startswith("--") or not between
    text = read(data, at, FAR)
    if text:
        return _quoted(data, text, name, config=word or (_is_shouted(name) and exact == b"="))
    scheme = _scheme_end(data, at, name)
    if word or (_is_shouted(name) and exact == b"=" and _stands_free(data, first)):
        return _line(data, scheme) or _bare(data, at, scheme, config=True)
    place = _bare(data, at, scheme, config=False)
    if place and is_bold(between):
        return place._replace(quoted=_ends(data, place.end))
    return place._replace(config=_is_config(data, first, between, place)) if place else None


def _quoted(data: bytes, text: Quoted, name: str, *, config: bool) -> Place | None:
    scheme = _scheme_end(data, text.start, name)
    if scheme > text.start:
        return _bare(data, text.start, scheme, config=False)
    if not text.closed and text.end < len(data) and text.end < text.start + FAR:
        return None
    return Place(text.start, text.start, text.end, text.text, quoted=True, config=config)


def _ends(data: bytes, at: int) -> bool:
    """Tell whether the line, or the string that holds it, ends at `at`."""
    return line_ends(data, at) or data[at : at + 8].lstrip(b"\\")[:1] in _QUOTES


def end_of(data: bytes, place: Place) -> int:
    """Give where a value ends that was read as far as `FAR` bytes only."""
    if place.end < place.start + FAR:
        return place.end
    rest = _compiled(rb"[^\s\x00-\x1f\x7f\"'`\\]*").match(data, place.end, place.end + LONGEST)
    return rest.end() if rest else place.end


def _is_shouted(name: str) -> bool:
    return name.isupper() and len(name) >= _LEAST_SHOUTED


def _stands_free(data: bytes, first: int) -> bool:
    """Tell whether a name in capitals stands where one is set, and not in the middle of data."""
    return first == 0 or data[first - 1 : first] in _BEFORE_NAME or data[first - 2 : first] in (b"\\n", b"\\t")


def _scheme_end(data: bytes, at: int, name: str) -> int:
    """Step over `Token`, `ApiKey` and the like in front of the value of an authorisation."""
    found = _compiled(_SCHEME).match(data, at, at + 40) if "auth" in name.lower() else None
    return found.end() if found else at


def _is_element(between: bytes) -> bool:
    between = between.strip()
    return between.endswith(b">") and not between.endswith(b"=>")


def _element(data: bytes, at: int) -> Place | None:
    """Read the text of an XML element."""
    found = _compiled(_ELEMENT).match(data, at)
    if not found:
        return None
    start, end = found.span(1)
    return Place(start, start, end, found[1].decode("utf-8", "replace"), quoted=True, config=True)


def _cell(data: bytes, at: int) -> Place | None:
    """Read a cell of a table that holds one word."""
    found = _compiled(_CELL).match(data, at, at + FAR)
    if not found:
        return None
    start, end = found.span(1)
    return Place(start, start, end, found[1].decode("utf-8", "replace"), quoted=True, config=False)


def _block(data: bytes, at: int) -> Place | None:
    """Read the first line of a block, or its first word, if that looks random."""
    return _line(data, at) or _bare(data, at, at, config=False)


def _line(data: bytes, at: int) -> Place | None:
    """Read the rest of the line, if it has no blank in it: in `NAME=value` any mark may be part of the value."""
    found = _compiled(_WHOLE_LINE).match(data, at, at + FAR)
    if not found or found.end() == at + FAR or _compiled(_OTHER).search(found[0]):
        return None
    return Place(at, at, found.end(), found[0].decode("utf-8", "replace"), quoted=False, config=True)


def _bare(data: bytes, lead: int, at: int, *, config: bool) -> Place | None:
    found = _compiled(_BARE).match(data, at, at + FAR)
    if not found:
        return None
    value = found[0] if config else found[0].rstrip(b".:")
    end = at + len(value)
    if not config and data[end : end + 1] in (b"(", b"[", b"{"):
        return None
    return Place(lead, at, end, value.decode("utf-8", "replace"), quoted=False, config=config)


def _is_config(data: bytes, first: int, between: bytes, place: Place) -> bool:
    """Tell whether this is no code: a whole line `name=value` or `name: value`, or a piece of a connection string."""
    before = data[first - 1 : first]
    if between == b"=" and data[place.end : place.end + 1] == b";" and before in (b";", b'"', b"'"):
        return True
    if between == b"=" and before in _QUOTES and data[place.end : place.end + 2].lstrip(b"\\")[:1] in _QUOTES:
        return True
    starts = line_starts(data, first) or (before in (b"+", b"-") and line_starts(data, first - 1))
    if not starts or not line_ends(data, place.end):
        return False
    return between == b"=" or (between == b":" and place.text[:1].islower())


_READERS = ((is_block, _block), (is_cell, _cell), (_is_element, _element))
"""Ways to write a value in which no quotes are read, each with how to tell it by what stands before the value."""
