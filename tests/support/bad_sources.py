"""Sessions that cannot be rebased, each with the code of the gate that refuses it."""

from pi_logs import entry, header, log, message, talk
from rebasing import calls

TALK = talk(4)
ALONE = {"display": False, "content": "x", "customType": "context-rebase-handoff-v1"}
HEAD = header("/w")
BAD: dict[str, tuple[str, bytes]] = {
    "version 1": ("unsupported-source-version", log(HEAD | {"version": 1}, *TALK)),
    "version 2": ("unsupported-source-version", log(HEAD | {"version": 2}, *TALK)),
    "torn tail": ("source-torn-tail", log(HEAD, *TALK) + b'{"type":"mess'),
    "garbage": ("source-damaged", log(HEAD, *TALK) + b"{garbage\n"),
    "conflicting ids": ("source-id-conflict", log(HEAD, *TALK, message(4, 3, "user", "other"))),
    "cycle": ("entry-cycle", log(HEAD, message(1, 2, "user", "x"), message(2, 1, "user", "x"))),
    "unknown parent": ("source-path-incomplete", log(HEAD, message(2, 77, "user", "x"))),
    "broken entry": ("entry-broken", log(HEAD, entry(1, None, "message"))),
    "no folder": ("source-without-folder", log(HEAD | {"cwd": ""}, *TALK)),
    "empty file": ("not-a-session", b""),
    "header only": ("source-empty", log(HEAD)),
    "nothing said": ("source-empty", log(HEAD, entry(1, None, "session_info", name="x"))),
    "open call": ("tool-exchange-open", log(HEAD, message(1, None, "user", "x"), calls(2, 1, "bash"))),
    "kept entry elsewhere": ("kept-entry-off-path", log(
        HEAD, *TALK, entry(9, 2, "compaction", summary="s", firstKeptEntryId="00000003", tokensBefore=1))),
    "nameless leaf": ("source-unnameable", log(HEAD, message(1, None, "user", "x")).replace(b'"00000001"', b'"\\ud800"')),
    "endless leaf": ("source-unnameable", log(HEAD, message(1, None, "user", "x") | {"id": "x" * 5000})),
    "handoff alone": ("lineage-unverified", log(HEAD, entry(1, None, "custom_message", **ALONE))),
    "over budget": ("checkpoint-over-budget", log(HEAD, message(1, None, "user", "word " * 30_000))),
}  # fmt: skip
