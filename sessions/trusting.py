"""Whether Pi trusts a project, decided as Pi does where it cannot ask.

Files that cannot be read count as a refusal. An extension of Pi may decide otherwise inside Pi, which is why there its
own word counts; from the outside only the files can be asked.
"""

import os

from sessions import pi_files

_PROTECTED = (
    "settings.json",
    "mcp.json",
    "extensions",
    "skills",
    "prompts",
    "themes",
    "SYSTEM.md",
    "APPEND_SYSTEM.md",
)
_SKILLS = os.path.join(".agents", "skills")


def trusted(*, agent_dir: str, cwd: str, override: bool | None, home: str) -> bool:
    """Tell whether Pi would load the project's own resources without asking.

    An override (`--approve`, `--no-approve`) comes first, then the nearest saved decision; without one a project that
    has no protected resources is trusted, any other only under the global `defaultProjectTrust: "always"`.
    """
    if override is not None:
        return override
    saved = saved_decision(agent_dir=agent_dir, cwd=cwd)
    if saved is not None:
        return saved
    if not has_protected(cwd=cwd, home=home):
        return True
    return pi_files.settings(agent_dir).get("defaultProjectTrust") == "always"


def saved_decision(*, agent_dir: str, cwd: str) -> bool | None:
    """Give the decision saved for the folder or else for the nearest one above it; None where there is none.

    A damaged `trust.json` is False, for Pi itself refuses to go on with it.
    """
    store = pi_files.read_json(os.path.join(agent_dir, "trust.json"))
    if store is pi_files.MISSING:
        return None
    if not isinstance(store, dict) or any(not isinstance(value, bool | None) for value in store.values()):
        return False
    decisions: dict[str, bool] = {}
    for path, value in store.items():
        if isinstance(value, bool) and os.path.isabs(path):
            decisions.setdefault(_compared(path), value)
    for folder in _upwards(cwd):
        if (name := _compared(folder)) in decisions:
            return decisions[name]
    return None


def has_protected(*, cwd: str, home: str) -> bool:
    """Tell whether the project brings resources that Pi loads only with trust.

    They lie in its `.pi`, or are `.agents/skills` there or in a folder above; the one in the home is the owner's own.
    """
    folders = list(_upwards(cwd))
    if any(os.path.exists(os.path.join(folders[0], pi_files.PROJECT_FOLDER, name)) for name in _PROTECTED):
        return True
    own = _compared(os.path.join(pi_files.real(home), _SKILLS))
    skills = (os.path.join(folder, _SKILLS) for folder in folders)
    return any(_compared(path) != own and os.path.exists(path) for path in skills)


def _upwards(cwd: str) -> list[str]:
    """Give the folder by its real name and all above it."""
    folders = [pi_files.real(cwd)]
    while (above := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(above)
    return folders


def _compared(path: str) -> str:
    return os.path.normcase(pi_files.absolute(path, base=os.sep, home=os.sep))
