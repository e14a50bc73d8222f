"""`pi-context pi …`: put the extension into Pi, take it out, tell how it stands."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from foundation.canonical import Json, pretty
from foundation.durable import PRIVATE_FILE, write_atomically
from foundation.errors import REFUSED, ContextError
from foundation.locks import held
from pi_context import pi_lock, pi_package
from pi_context.call import Call
from pi_context.output import plain
from pi_context.pi_package import Place
from pi_context.version import VERSION

_WAIT_SECONDS = 15.0
_PERMISSIONS = 0o7777
_ANSWER_SECONDS = 20.0


def install(call: Call) -> int:
    """Copy the extension, pin this interpreter, and list the copy in Pi's settings."""
    where = _place(call)
    pi_package.settings_of(where)
    interpreter = os.path.abspath(sys.executable)
    if _answer_of(interpreter) != VERSION:
        raise ContextError("interpreter-unfit")
    call.around.disk.make_folder(call.around.own_folder)
    with _alone(call):
        copied = pi_package.copy(call.around.disk, where, interpreter)
        listed = _change(call, where, lambda settings: pi_package.with_ours(where, settings))
    return _told(call, where, changed=copied or listed, done="Installed" if copied or listed else "Installed already")


def uninstall(call: Call) -> int:
    """Take the copy out of Pi's settings and remove it; sessions and our other files stay."""
    where = _place(call)
    pi_package.settings_of(where)
    changed = removed = False
    if os.path.isdir(call.around.own_folder) or os.path.isfile(where.settings):
        call.around.disk.make_folder(call.around.own_folder)
        with _alone(call):
            changed = _change(call, where, lambda settings: pi_package.without_ours(where, settings))
            removed = pi_package.remove(call.around.disk, where)
    gone = changed or removed
    if call.out.json:
        call.out.answer({"installed": False, "changed": gone})
        return 0
    call.out.say("Removed from Pi; it takes effect when Pi starts next." if gone else "Pi did not have it.")
    if gone:
        call.out.say("Answers and handoffs that are in your sessions stay there, and nothing gates them any more:")
        call.out.say("  before you go on in such a session with a remote model, see docs/pi.md.")
    return 0


def status(call: Call) -> int:
    """Tell whether Pi will load the extension, and whether its interpreter answers."""
    where = pi_package.place(call.around.agent_dir, call.around.own_folder)
    found = _standing(where)
    if call.out.json:
        call.out.answer(found)
    else:
        call.out.say(f"pi-context {VERSION}")
        if found["settings"] == "damaged":
            call.out.say(f"  Pi's settings are not a JSON object with a list of packages: {plain(where.settings)}")
        call.out.say(f"  Pi will {'' if found['loaded'] else 'not '}load the extension")
        if found["version"]:
            call.out.say(f"  extension {plain(found['version'])} in {plain(where.folder)}")
            answered = found["answered"] or "does not answer"
            call.out.say(f"  interpreter {plain(found['interpreter'])}: {plain(answered)}")
        if not found["sound"]:
            call.out.say("  Run `pi-context pi install`.")
    return 0 if found["sound"] else REFUSED


def _standing(where: Place) -> Json:
    try:
        loaded, settings = pi_package.loaded(where, pi_package.settings_of(where)), "read"
    except ContextError:
        loaded, settings = False, "damaged"
    interpreter, version = pi_package.pinned(where), pi_package.version(where)
    answered = _answer_of(interpreter) if interpreter else ""
    return {
        "version": version, "expected": VERSION, "folder": where.folder, "settings": settings, "loaded": loaded,
        "interpreter": interpreter, "answered": answered, "sound": loaded and version == answered == VERSION,
    }  # fmt: skip


def _answer_of(interpreter: str) -> str:
    """Ask an interpreter, started as the extension starts it, for the version of ours that it finds; else empty."""
    command = [interpreter, *pi_package.STARTED_WITH, "--version"]
    try:
        run = subprocess.run(  # noqa: S603 - the interpreter is the one that the owner installed with
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=_ANSWER_SECONDS, check=False,
            cwd=os.path.dirname(interpreter), stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    words = run.stdout.split()
    return words[-1] if run.returncode == 0 and words else ""


def _place(call: Call) -> Place:
    """Give the places; an agent may not change what Pi loads. Raises ContextError `owner-act-required`."""
    if call.around.mark:
        raise ContextError("owner-act-required")
    return pi_package.place(call.around.agent_dir, call.around.own_folder)


def _alone(call: Call) -> AbstractContextManager[None]:
    lock = os.path.join(call.around.own_folder, "settings.lock")
    return held(lock, call.around.disk, wait_seconds=_WAIT_SECONDS, busy="settings-busy")


def _change(call: Call, where: Place, change: Callable[[Json], Json]) -> bool:
    """Write Pi's settings under Pi's own lock; what Pi wrote meanwhile is kept, and so are links and permissions."""
    disk = call.around.disk
    with pi_lock.locked(where.settings, disk):
        before = pi_package.settings_of(where)
        after = change(before)
        if after == before:
            return False
        target = os.path.realpath(where.settings)  # a link, as dotfiles have it, stays one
        mode = os.stat(target).st_mode & _PERMISSIONS if os.path.exists(target) else PRIVATE_FILE
        write_atomically(disk, target, pretty(after).encode("utf-8"), mode=mode)
    return True


def _told(call: Call, where: Place, *, changed: bool, done: str) -> int:
    if call.out.json:
        call.out.answer(_standing(where) | {"changed": changed})
        return 0
    call.out.say(f"{done}: pi-context {VERSION} for Pi in {plain(call.around.agent_dir)}.")
    call.out.say("  Start Pi, or type /reload in it; then /context help lists what there is.")
    return 0
