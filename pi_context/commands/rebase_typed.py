"""Commands that an answer tells a person to type: they name the same folders, project and session as this one did."""

import shlex

from pi_context.call import Call

_FOLDERS = ("agent_dir", "session_dir", "project")


def typed(call: Call, *words: str, session: str, verb: tuple[str, ...] = ("rebase",)) -> str:
    """Write a command of ours as it can be typed; `session` is a path that the owner alone is told."""
    named = session if call.around.audience.local else call.words["session"]
    given = [*verb, *around(call)]
    if call.words["approve"]:
        given.append("--approve")
    if named:
        given += ["--session", named]
    return shlex.join(["pi-context", *given, *words])


def around(call: Call) -> list[str]:
    """Give the options of this command that name folders and project."""
    return [word for name in _FOLDERS if call.words[name] for word in ("--" + name.replace("_", "-"), call.words[name])]
