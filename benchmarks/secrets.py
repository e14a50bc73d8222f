"""Measures the secret detectors: recall and false finds on a planted corpus, false finds on real code, and speed.

    python benchmarks/secrets.py planted CORPUS          a corpus with truth/secrets.jsonl beside its sessions
    python benchmarks/secrets.py code PATH…              text files below the paths, as they are and JSON-escaped
    python benchmarks/secrets.py worst                   inputs made to be slow, at 1 and 2 times their size

Every miss and every find in code is listed, so that a person can judge it.
"""

import collections
import json
import os
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from foundation.texts import RawText
from privacy.redaction import redact
from privacy.secrets import find
from privacy.secrets.model import Secret
from privacy.secrets.version import RULES_VERSION

_LEAK = 6  # characters of a secret that must not stay in a row
_BINARY_SHARE = 0.02
_LARGEST = 8 << 20
_SKIPPED_ENDINGS = (".pyc", ".so", ".png", ".gz", ".zip", ".whl", ".wasm", ".node", ".jpg", ".ico", ".woff2", ".exe")


class Found(NamedTuple):
    """One find in a file: where, what, and the line around it."""

    path: str
    line: int
    kind: str
    value: str
    around: str


# --- planted corpus -------------------------------------------------------------------------------------


def texts_of(entry: dict[str, Any]) -> Iterator[str]:
    """Give the texts of a session line that an answer could show."""
    message = entry.get("message") or {}
    content = message.get("content")
    yield from (text for text in (content, entry.get("summary")) if isinstance(text, str))
    for block in content if isinstance(content, list) else []:
        if isinstance(block.get("text"), str):
            yield block["text"]
        if block.get("type") == "toolCall":
            yield from _strings(block.get("arguments"))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def leaks(secret: str, text: str) -> bool:
    """Tell whether six characters of the secret in a row are still in the text."""
    pieces = secret.split("\n") if "\n" in secret else [secret]
    return any(
        piece[at : at + _LEAK] in text
        for piece in pieces
        if "-----" not in piece
        for at in range(len(piece) - _LEAK + 1)
    )


def _secret_part(row: dict[str, Any]) -> str:
    """Of a database URL only the password is the secret."""
    value: str = row["value"]
    return value.partition("://")[2].partition("@")[0].partition(":")[2] if row["kind"].endswith("_url") else value


def planted(corpus: str) -> int:
    """Print recall and false finds over a planted corpus; give the number of misses and false finds."""
    truth: dict[tuple[str, int], list[dict[str, Any]]] = collections.defaultdict(list)
    for line in pathlib.Path(corpus, "truth/secrets.jsonl").read_text().splitlines():
        row = json.loads(line)
        truth[row["file"], row["line"]].append(row)
    recall: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    misses, false, characters, entries, seconds = [], [], 0, 0, 0.0
    for path in sorted(pathlib.Path(corpus).rglob("*.jsonl")):
        name = str(path.relative_to(corpus))
        if name.startswith("truth"):
            continue
        for number, raw in enumerate(path.read_bytes().splitlines(), 1):
            rows = truth.pop((name, number), [])
            shown = []
            for text in texts_of(json.loads(raw)):
                start = time.process_time()
                spans = find(text)
                seconds += time.process_time() - start
                characters, entries = characters + len(text), entries + 1
                shown.append(redact(RawText(text)).text)
                false += [
                    f"{name}:{number} {span.kind}: {text[span.start : span.end]!r}"
                    for span in spans
                    if not any(_belongs(text, span, row) for row in rows)
                ]
            for row in rows:
                recall[row["kind"]][0] += 1
                if any(leaks(_secret_part(row), text) for text in shown):
                    misses.append(f"{name}:{number} {row['kind']}: {row['value']!r}")
                else:
                    recall[row["kind"]][1] += 1
    total, good = (sum(counts[at] for counts in recall.values()) for at in (0, 1))
    print(f"rules {RULES_VERSION}; {entries} texts, {characters / 1e6:.1f} M characters")
    print(f"find: {characters / 1e6 / seconds:.0f} MB per CPU-second, {seconds / entries * 1e6:.1f} µs per text")
    for kind, (planted_count, found_count) in sorted(recall.items()):
        print(f"  {kind:16} {found_count:4} of {planted_count}")
    print(f"recall {good} of {total} = {good / max(total, 1):.2%}; false {len(false)}; unseen rows {len(truth)}")
    _list("missed", misses)
    _list("false", false)
    return len(misses) + len(false)


def _belongs(text: str, span: Secret, row: dict[str, Any]) -> bool:
    """Tell whether a find is the planted secret and reaches at most a few characters beyond it."""
    at = text.find(row["value"])
    return at >= 0 and at - 4 <= span.start and span.end <= at + len(row["value"]) + 4


# --- real code ------------------------------------------------------------------------------------------


def files_below(paths: list[str]) -> Iterator[tuple[str, str]]:
    """Give the text files below the paths, links left out, each real file once."""
    seen = set()
    for root in paths:
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(_SKIPPED_ENDINGS) or os.path.islink(path) or os.path.getsize(path) > _LARGEST:
                    continue
                identity = os.stat(path).st_ino
                if identity in seen:
                    continue
                seen.add(identity)
                data = pathlib.Path(path).read_bytes()
                if data.count(b"\0") <= len(data) * _BINARY_SHARE:
                    yield path, data.decode("utf-8", "replace")


def code(paths: list[str]) -> int:
    """Print each find in real code, plain and JSON-escaped, and the speed; give the number of finds."""
    total = 0
    for title, change in (("as it is", str), ("JSON-escaped", json.dumps)):
        finds: list[Found] = []
        size = files = 0
        seconds = 0.0
        for path, plain in files_below(paths):
            text = change(plain)
            start = time.process_time()
            spans = find(text)
            seconds += time.process_time() - start
            size, files = size + len(text.encode("utf-8", "replace")), files + 1
            finds += [_described(path, text, span) for span in spans]
        print(f"{title}: {files} files, {size / 1e6:.1f} MB, {size / 1e6 / seconds:.0f} MB per CPU-second")
        kinds = collections.Counter(found.kind for found in finds)
        print(f"  {len(finds)} finds, one per {size / 1e6 / max(len(finds), 1):.1f} MB: {dict(kinds)}")
        for found in finds:
            print(f"  {found.path}:{found.line} [{found.kind}] {found.value!r}\n      {found.around!r}")
        total += len(finds)
    return total


def _described(path: str, text: str, span: Secret) -> Found:
    line = text.count("\n", 0, span.start) + text.count("\\n", 0, span.start) + 1
    around = (
        text[max(0, span.start - 60) : span.start]
        + "«"
        + text[span.start : span.end][:80]
        + "»"
        + text[span.end : span.end + 20]
    )
    return Found(path, line, span.kind, text[span.start : span.end][:80], around)


# --- worst cases ----------------------------------------------------------------------------------------

WORST = {
    "a": "a", "spaces": " ", "newlines": "\n", "backslashes": "\\", "quotes": '"', "password=": "password=",
    'password="': 'password="', "password: '\\": "password: '\\", "-----BEGIN": "-----BEGIN PRIVATE KEY-----\n",
    "-----END": "-----END PRIVATE KEY-----\n", "sk-": "sk-", "sk-\\n": "sk-\n", "eyJ": "eyJ",
    "eyJ.": "eyJhbGciOiJub25lIn0.",
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU2Nzg5", "://": "://a:b", "://@": "://a:b@", "ghp_": "ghp_",
    "AKIA": "AKIA", "bearer": "bearer aaaaaaaa ", "esc": "\x1b[0m", "zero-width": "\u200b", "login": "login a ",
    "token=": "token=aB3dE5gH7jK9mN1pQ3s\n", "digits": "1234567890:AA", "--token": "--token ", "url64": "aB3_dE5-gH7",
    "%22": "password%22", "&amp;": "&amp;", "&quot;": "token&quot;:", "escapes": "\\u0022", "full width": "ｇ",
    ";session=": ";session=a", "cookies": "Cookie: session=aB3dE5gH7jK9mN1pQ3s; ", "cells": "| token | a ",
}  # fmt: skip


def worst(size: int = 30_000_000) -> int:
    """Print the seconds that hostile texts take at half and at full size; give how many grow faster than linearly."""
    bad = 0
    for name, unit in WORST.items():
        took = []
        for length in (size // 2, size):
            text = unit * (length // len(unit))
            start = time.process_time()
            find(text)
            took.append(time.process_time() - start)
        growth = took[1] / max(took[0], 1e-3)
        bad += growth > 3
        print(f"  {name:14} {took[0]:7.2f} s, {took[1]:7.2f} s, growth {growth:.1f}")
    return bad


def _list(title: str, rows: list[str]) -> None:
    for row in rows:
        print(f"  {title}: {row[:300]}")


if __name__ == "__main__":
    verb, *rest = sys.argv[1:] or ["help"]
    if verb == "planted":
        planted(rest[0])
    elif verb == "code":
        code(rest)
    elif verb == "worst":
        worst(*map(int, rest))
    else:
        print(__doc__)
