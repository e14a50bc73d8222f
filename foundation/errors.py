"""Every refusal and failure that a user can meet: one table of codes, one exception.

A message says what happened and what is untouched; the hint says what to do next. The table is the
source of `docs/json-and-codes.md`; `pi_context.boundary` alone turns an error into text, JSON and an exit status.
"""

import errno
from typing import NamedTuple

REFUSED, USAGE, INTERRUPTED = 1, 2, 130


class Code(NamedTuple):
    """A stable machine name with its meaning for people, its remedy and its exit status."""

    meaning: str
    hint: str
    exit_status: int = REFUSED


CODES: dict[str, Code] = {
    # --- asking -----------------------------------------------------------------------------------------
    "usage": Code("The words of the command do not fit.", "See `pi-context --help`.", USAGE),
    "invalid-query": Code("The query is empty or longer than 2000 characters.", "Give one to 2000 characters."),
    "invalid-scope": Code("There is no such scope here.", "Scopes are listed in `history search --help`."),
    "invalid-limit": Code("The number of hits is out of range.", "Use `--limit` 1 to 12 and `--skip` 0 or more."),
    "invalid-budget": Code("The output budget is out of range.", "Use `--max-output-tokens` 256 to 6000."),
    "invalid-role": Code(
        "There is no such role.", "Use user, assistant, toolResult, bashExecution, custom or summary."
    ),
    "invalid-tool": Code("A tool name is empty or longer than 200 characters.", "Use the name as the log has it."),
    "invalid-date": Code(
        "A date is not ISO 8601.", "Write 2026-11-20 or 2026-11-20T08:00:00Z; the years 1 to 9999 count."
    ),
    "invalid-date-range": Code("`--after` is not before `--before`.", "Swap the two, or drop one."),
    "invalid-range": Code("A line, column or count is out of range.", "Lines and columns start at 1; 1 to 200 lines."),
    "invalid-audience": Code("The audience is not a provider name.", "Use `local` or the id of a provider."),
    "range-out-of-bounds": Code("The text ends before that line.", "Start at line 1."),
    # --- finding the session ------------------------------------------------------------------------------
    "no-session": Code(
        "This project has no session yet.", "Name one with `--session FILE`, or a project with `--project DIR`."
    ),
    "session-not-found": Code("No session has that id.", "See `pi-context session list`."),
    "session-ambiguous": Code("Several sessions have an id that starts so.", "Give more characters, or the file."),
    "entry-not-found": Code("The session has no entry with that id.", "See `pi-context session tree`."),
    "entry-ambiguous": Code("Several entries have an id that starts so.", "Give more characters."),
    "entry-cycle": Code(
        "The branch runs in a circle of parents and has no beginning; Pi itself would hang on it.",
        "See `pi-context session verify`, and name another `--leaf`.",
    ),
    "entry-broken": Code(
        "An entry of the branch is malformed, and Pi itself fails on it.",
        "See `pi-context session verify`, and name another `--leaf`.",
    ),
    "file-missing": Code("There is no such file.", "Check the path."),
    "file-unreadable": Code("The file cannot be read.", "Check its permissions; nothing was changed."),
    "not-a-file": Code("That is a folder or a device, no session file.", "Name one `.jsonl` file."),
    "not-a-session": Code("The file holds no session entries.", "Name a `.jsonl` file that Pi wrote."),
    # --- allowed or not -----------------------------------------------------------------------------------
    "history-disabled": Code("The history tools are switched off.", "Set `historyTools.enabled` to true."),
    "owner-act-required": Code(
        "Only the owner may do this.",
        "Run it yourself on a terminal outside any agent, or set `owner.scripts` in the global settings.",
    ),
    "project-scope-disabled": Code(
        "Searching the whole project is switched off.", "Set `historyTools.allowProjectScope` to true."
    ),
    "project-not-trusted": Code("Pi does not trust this project.", "Trust it in Pi with `/trust`, or use --approve."),
    "outside-project": Code(
        "Under an agent's mark only the current project can be reached.", "Run it yourself outside the agent."
    ),
    "privacy-omitted": Code("The entry is classified above what this audience may see.", "Ask the owner to read it."),
    # --- reading back -------------------------------------------------------------------------------------
    "reference-unavailable": Code(
        "The reference is unknown, expired, or no longer within its scope.", "Search again for a fresh one."
    ),
    "source-changed": Code(
        "The log is no longer what was found; nothing was returned.",
        "Run `pi-context index update`, then search again.",
    ),
    "source-unavailable": Code("The session file is gone or unreadable.", "Search again, or restore the file."),
    # --- the index and the disk ---------------------------------------------------------------------------
    "index-busy": Code("Another process holds the index; nothing was changed.", "Try again in a moment."),
    "settings-busy": Code("Another process is changing the settings; nothing was changed.", "Try again in a moment."),
    "index-unavailable": Code("The index cannot be opened or made.", "Run `pi-context doctor`; session logs are safe."),
    "disk-full": Code("The disk is full; session logs are untouched.", "Free some space and run the command again."),
    "permission-denied": Code("A file or folder may not be written.", "Check its owner and permissions."),
    "read-only": Code("The file system is read-only; nothing was changed.", "Use `--agent-dir` on a writable disk."),
    "in-the-way": Code(
        "A file stands where a folder is needed, or a folder where a file is; nothing was changed.",
        "Move it away and run the command again.",
    ),
    "io-error": Code("The disk reported an error; session logs are untouched.", "Check the disk, then try again."),
    # --- settings -----------------------------------------------------------------------------------------
    "unknown-setting": Code("There is no such setting.", "See `pi-context config`."),
    "invalid-setting": Code("The value is not valid for this setting; nothing was saved.", "See `pi-context config`."),
    "settings-damaged": Code(
        "The settings file is not valid JSON; it was left as it is.", "Mend the file by hand, or remove it."
    ),
    "pi-settings-damaged": Code(
        "Pi's `settings.json` is not a JSON object with a list of packages; it was left as it is.",
        "Mend the file by hand: Pi itself cannot read it either.",
    ),
    "interpreter-unfit": Code(
        "This Python finds pi-context only with the help of the environment, which Pi would not give it.",
        "Install pi-context with `uv tool install pi-context` or `pipx install pi-context`, and use that.",
    ),
    # --- rebase ---------------------------------------------------------------------------------------------
    "rebase-disabled": Code("Rebase is switched off.", "Set `sessionRebase.enabled` to true."),
    "session-unsaved": Code("The session has no file yet.", "Say something in it first; Pi then writes the file."),
    "session-busy": Code(
        "Pi is at work in this session: an answer, a queued message or a compaction is under way.",
        "Wait until Pi is idle, then rebase again.",
    ),
    "unsupported-source-version": Code(
        "The session is not of version 3 of Pi's format; it was not touched.",
        "Open it once in Pi, which brings it to the present version, or name another session.",
    ),
    "source-torn-tail": Code(
        "The last line of the session has no end: Pi is writing it, or was stopped while it did.",
        "Try again when Pi has written it; where Pi was stopped, continue with `/clone` in Pi and rebase the clone.",
    ),
    "source-damaged": Code(
        "A line of the session cannot be read, and a checkpoint must not pass over anything.",
        "See `pi-context session verify`; `/clone` in Pi copies what is sound, and the clone can be rebased.",
    ),
    "source-id-conflict": Code(
        "Two different entries of the session have the same id.",
        "See `pi-context session verify`; `/clone` in Pi copies one branch, and the clone can be rebased.",
    ),
    "source-path-incomplete": Code(
        "The branch does not reach back to a beginning: an entry names a parent that is not in the file.",
        "See `pi-context session verify`, and name another `--leaf`.",
    ),
    "source-without-folder": Code(
        "The session does not say in which folder it was held.", "Name a session whose header has a `cwd`."
    ),
    "source-names-secret": Code(
        "The file name of the session, its id, or the id of its last entry looks like a secret; a journal holds none.",
        "Rename the file, or continue with `/clone` in Pi, which gives a new id; or name another `--leaf`.",
    ),
    "source-unnameable": Code(
        "The name of the session's file, or an id in it, is no text that could be recorded.",
        "Rename the file, or continue with `/clone` in Pi and rebase the clone.",
    ),
    "source-empty": Code("Nothing was said on this branch.", "Name another session, or another `--leaf`."),
    "kept-entry-off-path": Code(
        "The last compaction keeps messages from an entry that is not on its branch, so Pi itself loses them.",
        "Name a `--leaf` before that compaction, or compact again in Pi.",
    ),
    "lineage-unverified": Code(
        "The session is a rebased one, and its link to where it came from does not hold.",
        "Put the source session back beside it, or look at it and run `pi-context rebase --adopt TARGET`.",
    ),
    "tool-exchange-open": Code(
        "The context cuts a tool call from its result.", "Let Pi finish the call, or name an earlier `--leaf`."
    ),
    "memory-state-required": Code(
        "The session holds pins or memories, and memory is switched off, so they would be lost.",
        "Set `memory.enabled` to true; the session was not touched.",
    ),
    "checkpoint-over-budget": Code(
        "The handoff is larger than its budget, and nothing is left out in silence.",
        "Compact in Pi first, raise `sessionRebase.checkpointTargetTokens` (up to 24000), or use `--fit`.",
    ),
    # --- memory, and what was removed from it -----------------------------------------------------------------
    "ledger-unreadable": Code(
        "What was removed cannot be read, so nothing is shown that might be; no file was changed.",
        "Try again; if it stays so, look at the permissions of `pi-context/projects` and `keys` in the agent folder.",
    ),
    "session-removed": Code(
        "The session was removed; its log keeps every byte.", "See `pi-context memory removed`, then restore it."
    ),
    "filters-invalid": Code(
        "`pi-context/memory.yaml` in the agent folder cannot be used; nothing was drawn.",
        "Mend the line that is named; docs/map.md lists the keys.",
    ),
    "file-exists": Code("The file is there already; it was left as it is.", "Give another name, or `--force`."),
    "memory-text-too-long": Code(
        "The text or the reason is too long; nothing was saved.", "See `memory.maxPinChars` and `memory.maxClaimChars`."
    ),
    "memory-too-much": Code(
        "There are more pins or memories than there may be; nothing was saved.",
        "Unpin some, or raise `memory.maxPinnedTokens`.",
    ),
    "memory-said-already": Code("That stands there already; nothing was saved.", "See `pi-context memory list`."),
    "memory-conflict": Code(
        "Another memory says otherwise; nothing was saved.", "Supersede that one: `pi-context memory list` has its id."
    ),
    "memory-item-unknown": Code("No pin or memory that holds has that id.", "See `pi-context pin list`."),
    "memory-wish-unknown": Code(
        "That is no change of pins or memory; nothing was saved.", "Give a text, and a scope that there is."
    ),
    "revision-stale": Code(
        "Pins or memory changed since they were listed, or that was too long ago; nothing was saved.",
        "List them again, and use the new revision.",
    ),
    "memory-disabled": Code("Memory is switched off.", "Set `memory.enabled` to true."),
    "memory-busy": Code(
        "Another process is changing this project's memory; nothing was changed.", "Try again in a moment."
    ),
    "invalid-fact": Code(
        "A word of the fact is missing, or it ends before it begins; nothing was saved.",
        "Say it as subject, predicate, object; `--to` is after `--from`.",
    ),
    "claim-too-long": Code("The fact is longer than `memory.maxClaimChars`; nothing was saved.", "Say it shorter."),
    "claim-holds-secret": Code(
        "A secret was found in it; nothing was saved.",
        "Say it without the secret: names and facts are kept as they are.",
    ),
    "fact-unknown": Code("There is no fact with that id.", "See `pi-context memory fact list`."),
    "fact-retracted": Code("The fact was retracted, so it cannot end.", "See `pi-context memory fact list --all`."),
    "entity-unknown": Code(
        "Nothing that facts are about has that id or name.", "See `pi-context memory fact list`, or remove a `name`."
    ),
    "entity-ambiguous": Code(
        "Several things have that name.", "Give the id, as `pi-context memory fact list --json` has it."
    ),
    "entity-removed": Code("What the fact is about is removed.", "Restore that first: `pi-context memory removed`."),
    "name-too-short": Code(
        "A name to be removed needs two characters, one of them a letter; nothing was removed.",
        "Give the whole name.",
    ),
    "removal-unknown": Code("Nothing with that id is removed.", "See `pi-context memory removed`."),
    "deleted-already": Code("That is deleted for good already.", "See `pi-context memory removed`."),
    "entity-merged": Code("Other things are merged into it.", "Remove and delete those first."),
    "fact-holds": Code("A fact about it still holds.", "Remove the fact first."),
    "delete-unconfirmed": Code("Deleting for good needs the word; nothing was deleted.", "Add `--confirm delete`."),
    # --- operations and their journal -------------------------------------------------------------------------
    "rebase-busy": Code(
        "Another process is rebasing in this session folder; nothing was changed.",
        "Wait until it is done; if it is stuck, end it: its lock ends with it.",
    ),
    "operation-unknown": Code("There is no operation with that id here.", "See `pi-context rebase --list`."),
    "other-project": Code(
        "The operation is of another project; nothing was changed.",
        "Run the command in that project's folder, or name its session with `--session`.",
    ),
    "not-rebased": Code("The session was not made by a rebase.", "See `pi-context session list`."),
    "confirmation-required": Code(
        "Nobody can be asked here; nothing was done.", "Use `--yes`, or `--confirm-plan` with the id of a dry run."
    ),
    "declined": Code("Nothing was done.", "Answer y to do it, or use `--yes`."),
    "operation-unfinished": Code(
        "An earlier rebase of this session was not finished.", "Recover it or abandon it, then rebase again."
    ),
    "operation-exists": Code("There is an operation with that id already; it was left as it is.", "Use a new id."),
    "operation-committed": Code(
        "The operation has taken effect and can no longer be abandoned.", "Finish it with `--recover`."
    ),
    "operation-abandoned": Code("The operation was abandoned; nothing of it is left.", "Start a new one."),
    "operation-closed": Code("The operation was closed for good; nothing of it is left.", "Start a new one."),
    "target-exists": Code(
        "Another file has the name that the new one should get; it was left as it is.",
        "Move it away, then recover the operation.",
    ),
    "source-grew": Code(
        "The session went on while it was being rebased; it was not touched.", "Rebase it again when it is at rest."
    ),
    "source-moved-before-checkpoint": Code(
        "The session went on before its rebase was done, so the operation was closed; nothing of it is left.",
        "Rebase the session as it is now.",
    ),
    "archive-changed": Code(
        "The session is no longer what was to be rebased: earlier lines of it were changed.",
        "See `pi-context session verify`, then rebase the session as it is now.",
    ),
    "inputs-changed": Code(
        "Settings, exclusions or rules changed since the operation began, so it was closed; nothing of it is left.",
        "Rebase the session again.",
    ),
    "plan-changed": Code(
        "The plan is not the one that was confirmed: the session, a setting or a rule changed; nothing was done.",
        "Look at `pi-context rebase --dry-run` again.",
    ),
    "target-missing": Code(
        "The rebased session is gone; its source is untouched.",
        "Rebase the source again.",
    ),
    "target-integrity": Code(
        "The rebased session is not what was composed; it was left as it is.",
        "Look at what is in its place, and move it away; then recover the operation.",
    ),
    "install-unsupported": Code(
        "This file system can give a file a name only by overwriting, so nothing was installed.",
        "Keep the sessions on a file system with hard links.",
    ),
    "journal-damaged": Code(
        "The operation's record cannot be read as one; it was left as it is.",
        "Look at the file in `.ds4-rebase/operations`; move it away when you have seen what it was.",
    ),
    "journal-edited": Code(
        "The operation's record is not what was signed; it was left as it is.",
        "Restore the file from before the change, or move it away.",
    ),
    "journal-unsigned": Code(
        "The operation's record is not signed; it was set aside.",
        "Look at it, and adopt it only if you know where it comes from.",
    ),
    "journal-foreign": Code(
        "The operation's record was signed by another installation; it was set aside.",
        "Recover it where it was begun, or look at it and adopt it.",
    ),
    "journal-version": Code(
        "The operation's record was written by another version of pi-context; it was left as it is.",
        "Use the version that wrote it.",
    ),
    "journal-changed": Code(
        "Something else changed the operation's record while it ran; the record was left as it is.",
        "See `pi-context rebase --list`, then recover the operation.",
    ),
    "lock-unavailable": Code(
        "This file system cannot lock a file; nothing was changed.", "Keep the agent's folder on a local disk."
    ),
    "note-busy": Code("Another process is writing this note; nothing was changed.", "Try again in a moment."),
    "keys-busy": Code("Another process is making this installation's key.", "Try again in a moment."),
    "key-damaged": Code(
        "This installation's key is no key any more; it was left as it is.",
        "Restore it from a backup, or move it away: what it signed must then be adopted.",
    ),
    # --- the server inside Pi -------------------------------------------------------------------------------
    "cancelled": Code("The call was cancelled.", "Nothing is left to do."),
    "deadline": Code("The call took longer than it was given.", "Ask again, or for less."),
    "invalid-params": Code("The parameters of the call do not fit.", "See `docs/server.md`."),
    "server-unavailable": Code(
        "The server behind Pi could not be started, or ended.", "Run `pi-context pi status` in a shell."
    ),
    "client-gone": Code(
        "Pi did not answer; the session is untouched.", "If an operation is left, run `/context rebase --recover ID`."
    ),
    "activation-cancelled": Code(
        "The switch to the new session was cancelled; the old one goes on.",
        "Recover the operation to switch after all, or abandon it.",
    ),
    "activation-failed": Code(
        "Pi could not switch to the new session; the old one goes on.",
        "Recover the operation to try again, or abandon it.",
    ),
    # --- MCP ------------------------------------------------------------------------------------------------
    "mcp-not-installed": Code(
        "The MCP SDK is not installed, or older than version 2.", "Run `pip install 'pi-context[mcp]'`."
    ),
    # --- ourselves ----------------------------------------------------------------------------------------
    "interrupted": Code("Interrupted; what was done so far is kept.", "Run it again to go on.", INTERRUPTED),
    "internal-error": Code("This is a defect of pi-context; session logs are untouched.", "Please report it."),
}


class ContextError(Exception):
    """A foreseeable refusal or failure, named by its code; `detail` and `hint` replace the table's words."""

    def __init__(self, code: str, detail: str = "", *, hint: str = "") -> None:
        known = CODES[code]
        self.code = code
        self.message = detail or known.meaning
        self.hint = hint or known.hint
        self.exit_status = known.exit_status
        super().__init__(self.message)


_BY_ERRNO = {
    errno.ENOSPC: "disk-full",
    errno.EDQUOT: "disk-full",
    errno.EFBIG: "disk-full",  # a limit of the process on the size of files
    errno.EACCES: "permission-denied",
    errno.EPERM: "permission-denied",
    errno.EROFS: "read-only",
    errno.EIO: "io-error",
    errno.ENOTDIR: "in-the-way",
    errno.EISDIR: "in-the-way",
    errno.EEXIST: "in-the-way",
}


def foreseen(error: BaseException) -> ContextError | None:
    """Give an error its code, be it a refusal of ours or one of the operating system; None where it is a defect."""
    if isinstance(error, ContextError):
        return error
    if isinstance(error, OSError) and error.errno in _BY_ERRNO:
        return ContextError(_BY_ERRNO[error.errno])
    return None
