"""Writes `docs/privacy-detectors.md` from the detectors; a test holds that the page is what this gives."""

from privacy.secrets.detectors import detectors
from privacy.secrets.model import Detector
from privacy.secrets.runs import ALPHABETS
from privacy.secrets.values import RULE

_HEAD = """# The secret detectors

This page is written by `privacy/secrets/table.py` and held equal to the code by a test.

Each find becomes `[redacted:KIND]`, for every audience; there is no switch that turns this off. Detectors look at the
whole text, before anything is cut. Examples are templates: `{an:36}` stands for 36 made-up letters and digits, the
part between « and » is what must be found; in the counter-examples nothing must.

## How a text is searched

1. One RE2 pass over the UTF-8 bytes looks for places worth a look: known prefixes, names that promise a secret with a
   value behind them, URLs with an `@`, BEGIN and END lines of private keys. Clean text costs only that.
2. At such a place the detector reads a bounded stretch and judges it. "Random" means: the letters and digits cost a
   model of the words in programs and documentation more bits than random characters would. Twelve random characters
   behind a distinctive prefix are a key even if the rest was cut off.
3. Where a text holds something invisible (terminal colours, NUL and other control characters, zero-width and direction
   characters, soft hyphens, blank fillers; also as escapes such as `\\\\u200b` in JSON), it is searched a second time
   without it, and the invisible parts inside a find belong to the find. In the same way escapes are read: quotes and
   signs behind a name as `\\\\u0022`, `\\\\x22`, `&quot;`, `&#34;` or `%22`, escaped again or not, letters of keys as
   `\\\\u005f`, and full-width letters.
4. A key may be broken by line ends, with or without an indent, a backslash, a diff or quote sign, or as `\\\\n` in
   escaped text. What follows belongs to the key if it completes it exactly or looks random. Inside the prefix itself a
   break is followed for the most common keys only.
5. Finds that overlap become one; a key of a known form gives its kind to the find that its name led to.

## Values behind names

A name is split into words at `_`, `-`, `.` and capitals, its last telling word decides. Password, passwd, pwd, pass,
passphrase, passcode; secret, and keys that are private, signing, encrypting, shared, account, master or the like;
token, jwt; API, access and auth key; credential and auth. Not: names that end in something else (`password_file`,
`secretName`, `token_count`), and tokens that are no secret (CSRF, paging, commits, parsing, limits), whether the word
stands in the name or before it (`commit token: …`).

The value stands behind `=`, `:` and the like, on the same line or quoted on the next, as a block of YAML (`name: |`),
in an XML element, behind a `--flag` or as the next item of its list, as the next string in brackets
(`define('NAME', 'value')`), behind `ENV NAME`, `setx NAME`, `config set NAME`, in Markdown behind a bold name or in the
next cell of a table.

RULE

Known to be missed: secrets of plain words or digits only, of fewer than 8 characters, with blanks inside; passwords in
prose without `:` or `=`; passwords that a person made up and a line break cut in two; `-p` flags; tables with the names
in their head; characters of a key as `\\\\x5f` or `%5F`; session ids outside a line that says `cookie`.

## Alphabets

ALPHABETS

## The detectors

"""


def page() -> str:
    """Give the page as Markdown."""
    alphabets = "\n".join(f"- {name}: `{members.decode()}`" for name, members in sorted(ALPHABETS.items()))
    head = _HEAD.replace("RULE", RULE).replace("ALPHABETS", alphabets).replace("\\\\", "\\")
    rows = ["| kind | what | how | found | not found |", "| --- | --- | --- | --- | --- |"]
    rows += [_row(detector) for detector in sorted(detectors(), key=lambda detector: detector.kind)]
    return head + "\n".join(rows) + "\n"


def _row(detector: Detector) -> str:
    cells = (
        f"`{detector.kind}`",
        detector.what,
        "see “Values behind names”" if detector.how == RULE else detector.how,
        "<br>".join(_code(text) for text in detector.examples[:2]),
        "<br>".join(_code(text) for text in detector.counterexamples[:3]),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _code(text: str) -> str:
    """Write a text as code that survives in a cell of a table."""
    shown = text.replace("\n", "⏎")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"
