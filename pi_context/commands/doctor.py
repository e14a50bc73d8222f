"""`pi-context doctor`: is the installation sound, are the folders as they should be, is the index usable."""

import os
import shlex
import sys
from collections.abc import Iterator
from typing import NamedTuple

from foundation.errors import CODES, REFUSED, ContextError
from pi_context.call import Call
from pi_context.output import plain
from pi_context.pending import has_records
from pi_context.version import VERSION

OK, WARN, FAIL = "ok", "warn", "fail"

PACKAGES = ("foundation", "sessions", "privacy", "index", "journal", "memory", "rebase", "recall", "pi_context")
"""The top-level packages that are ours; another distribution that ships one of these names breaks us."""


class Check(NamedTuple):
    """One thing looked at: how it stands, and what to do about it."""

    name: str
    state: str
    message: str
    hint: str = ""


def doctor(call: Call) -> int:
    """Look at everything that can be wrong around us."""
    checks = [*_installation(), *_folders(call), *_index(call), *_rebases(call), *_settings(call)]
    failed = any(check.state == FAIL for check in checks)
    if call.out.json:
        call.out.answer({"sound": not failed, "checks": [check._asdict() for check in checks]})
        return REFUSED if failed else 0
    styles = {OK: "green", WARN: "yellow", FAIL: "red"}
    for check in checks:
        call.out.say(
            f"{call.out.style(check.state.ljust(4), styles[check.state])}  {check.name}: {plain(check.message)}"
        )
        if check.hint:
            call.out.say(f"      {check.hint}")
    return REFUSED if failed else 0


def _installation() -> Iterator[Check]:
    import apsw

    yield Check("pi-context", OK, f"{VERSION} on Python {sys.version.split()[0]}, SQLite {apsw.sqlite_lib_version()}")
    fts5 = any(option == "ENABLE_FTS5" for option in apsw.compile_options)
    yield Check("full text search", OK if fts5 else FAIL, "FTS5 is there" if fts5 else "this SQLite has no FTS5",
                "" if fts5 else "Install apsw from its wheel.")  # fmt: skip
    yield from _owners()


def _owners() -> Iterator[Check]:
    """Find other distributions that ship one of our import names, and files of ours that were overwritten."""
    from importlib import metadata

    owners = metadata.packages_distributions()
    others = {name: sorted(set(owners.get(name, ())) - {"pi-context"}) for name in PACKAGES}
    taken = [f"{name} ({', '.join(by)})" for name, by in others.items() if by]
    if taken:
        yield Check("import names", FAIL, f"also shipped by others: {'; '.join(taken)}",
                    "Install pi-context alone: `uv tool install pi-context` or `pipx install pi-context`.")  # fmt: skip
    try:
        files = metadata.distribution("pi-context").files or []
    except metadata.PackageNotFoundError:
        yield Check("installed files", WARN, "not installed: running from a folder")
        return
    changed = [str(file) for file in files if file.hash and str(file).endswith(".py") and not _is_as_recorded(file)]
    if changed:
        yield Check("installed files", FAIL, f"changed: {', '.join(changed[:3])}",
                    "Reinstall pi-context in an environment of its own.")  # fmt: skip
    else:
        yield Check("installed files", OK, "as they were installed")


def _is_as_recorded(file: "object") -> bool:
    from base64 import urlsafe_b64encode
    from hashlib import new
    from importlib.metadata import PackagePath

    assert isinstance(file, PackagePath)
    recorded = file.hash
    assert recorded is not None
    try:
        with open(os.fspath(file.locate()), "rb") as content:
            digest = new(recorded.mode, content.read()).digest()
    except OSError:
        return False
    return urlsafe_b64encode(digest).rstrip(b"=").decode() == recorded.value


def _folders(call: Call) -> Iterator[Check]:
    around = call.around
    if os.path.isdir(around.agent_dir):
        yield Check("agent folder", OK, around.agent_dir)
    else:
        yield Check(
            "agent folder", WARN, f"{around.agent_dir} does not exist", "Start Pi once, or name it with --agent-dir."
        )
    number = "some" if around.mark and around.files else len(around.files)  # how many is for the owner
    yield Check("session files", OK if around.files else WARN, f"{number} found")
    if os.path.isdir(around.own_folder):
        mode = os.stat(around.own_folder).st_mode & 0o077
        yield Check("our folder", WARN if mode else OK, around.own_folder + (" is open to others" if mode else ""),
                    f"chmod 700 '{around.own_folder}'" if mode else "")  # fmt: skip


def _index(call: Call) -> Iterator[Check]:
    import apsw

    from index import health, opening

    around = call.around
    try:
        db = opening.open_reader(around.own_folder)
    except (opening.Stale, apsw.Error) as error:
        yield Check("index", WARN, f"cannot be used ({error})", "Run `pi-context index update`; it is made anew.")
        return
    if db is None:
        yield Check("index", OK, "none yet; the first search makes it")
        return
    try:
        state = health.state(db, around.own_folder, around.files)
    finally:
        db.close()
    if around.mark:
        yield Check("index", OK, "in use")
        return
    yield Check("index", OK, f"{state.sessions} sessions, {state.entries} entries, {state.size / 1e6:.1f} MB")
    for wrong, message in (
        (state.files_behind, f"{state.files_behind} files, {state.behind / 1e6:.1f} MB not indexed yet"),
        (state.detectors_behind, "made with older secret detectors"),
        (state.unfinished, "a first build was cut short"),
        (state.pending_erase, "words of deleted sessions are still in the file"),
    ):
        if wrong:
            yield Check("index", WARN, message, "Run `pi-context index update`.")
    if state.quarantined:
        yield Check(
            "session files", WARN, f"{state.quarantined} lines could not be read", "See `pi-context index check`."
        )


def _rebases(call: Call) -> Iterator[Check]:
    """Look at the key that signs rebases, and for operations that were not finished."""
    around = call.around
    if os.path.isdir(around.keys_folder):
        yield from _key(around.keys_folder)
    files = [around.session] if around.mark and around.session else [] if around.mark else around.files
    beside = {os.path.dirname(file.path): file.path for file in reversed(files)}  # the newest of each folder
    for folder, newest in sorted(beside.items()):
        if not has_records(folder):
            continue
        from pi_context import rebases_seen

        try:
            number = len(rebases_seen.unfinished(around, folder, of_all=True))
        except ContextError as error:
            yield Check("rebase", WARN, f"{folder}: {error.message}", error.hint)
            continue
        if number:
            yield Check("rebase", WARN, f"{number} not finished in {folder}",
                        f"See `pi-context rebase --list --session {shlex.quote(newest)}`.")  # fmt: skip


def _key(folder: str) -> Iterator[Check]:
    from journal.keys import KEY_BYTES, KEY_FILE

    path = os.path.join(folder, KEY_FILE)
    if not os.path.exists(path):
        return
    found = os.stat(path)
    if found.st_size != KEY_BYTES:
        yield Check("key", FAIL, CODES["key-damaged"].meaning, CODES["key-damaged"].hint)
    elif found.st_mode & 0o077:
        yield Check("key", WARN, f"{path} is open to others", f"chmod 600 {shlex.quote(path)}")
    else:
        yield Check("key", OK, "signs the rebases made here")


def _settings(call: Call) -> Iterator[Check]:
    found = call.around.configuration
    for message in found.messages:
        yield Check("settings", WARN, message)
    if not found.messages:
        yield Check("settings", OK, "all valid")
    yield Check("project", OK, f"{call.around.project} is {'' if call.around.trusted else 'not '}trusted by Pi")
    if call.around.mark:
        yield Check("agent", WARN, f"{call.around.mark} is set: owner acts are refused")
