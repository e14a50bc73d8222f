"""`pi-context audit`: where the logs hold secrets, by file, line and kind; never a value."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from foundation.durable import create_once
from foundation.errors import ContextError
from pi_context.call import Call
from pi_context.output import plain
from privacy.redaction import fingerprint, secrets_in
from recall.scope import project_files
from sessions.decoding import parser_for
from sessions.entries import Chain, header
from sessions.locating import LogFile, canonical
from sessions.reading import open_log, records
from sessions.text import everything

SCHEMA = "context-audit-v1"
_KEY_BYTES = 32


def audit(call: Call) -> int:
    """List where the logs hold secrets."""
    call.around.require_owner()
    key = _key(call)
    findings = [finding for file in _files(call) for finding in _of_file(file, key)]
    counts = Counter(finding["kind"] for finding in findings)
    if call.out.json:
        call.out.answer({"schema": SCHEMA, "counts": dict(sorted(counts.items())), "findings": findings})
        return 0
    for finding in findings:
        where = call.out.style(f"{plain(finding['file'])}:{finding['line']}", "cyan")
        call.out.say(f"{where}  {finding['kind']}  {finding['fingerprint']}")
    total = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    call.out.say(f"{len(findings)} secrets: {total}." if findings else "No secrets found.")
    return 0


def _files(call: Call) -> list[LogFile]:
    """Give the session named, else all files or those of the project."""
    around = call.around
    if call.words["session"] and around.session:
        return [around.session]
    return around.files if call.words["all"] else project_files(around.files, None, canonical(around.project))


def _of_file(file: LogFile, key: bytes) -> Iterator[dict[str, Any]]:
    try:
        log = open_log(file.path)
    except ContextError:
        return
    with log:
        chain = Chain()
        for record in records(log, parse=parser_for(file.stat.st_size)):
            if record.value is None:
                continue
            found = header(record.value)
            if found:
                chain.version = found.version
                chain.skip()
            identity = "" if found else chain.follow(record.value)[0]
            text = everything(record.value)
            for secret in secrets_in(text):
                value = text[secret.start : secret.end]
                yield {
                    "file": file.path, "line": record.line, "entryId": identity, "kind": secret.kind,
                    "fingerprint": fingerprint(value, key),
                }  # fmt: skip


def _key(call: Call) -> bytes:
    """Give the key of this installation's fingerprints, made at random when it is first needed."""
    path = os.path.join(call.around.own_folder, "keys", "audit.key")
    create_once(call.around.disk, path, os.urandom(_KEY_BYTES))
    with open(path, "rb") as file:
        return file.read(_KEY_BYTES)
