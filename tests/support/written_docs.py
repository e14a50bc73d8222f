"""The parts of docs/ that are written by the code: a block between two marks, made anew or compared."""

import base64
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from foundation.canonical import dumps
from foundation.errors import CODES
from foundation.marks import OUTPUT_LINE
from foundation.settings import SETTINGS
from memory.filters import DEFAULTS as FILTERS
from memory.filters import MEANINGS as FILTER_MEANINGS
from pi_context.command_line import PROGRAM, application
from pi_context.commands import rebase_shown
from pi_context.commands.history import WARNINGS
from pi_context.commands.session_verify import DAMAGE, MEANINGS
from pi_context.environment import AGENT_MARKS
from pi_context.verbs import GLOBAL_OPTIONS, VERBS, Verb

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(<!-- made: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Write a Markdown table; pipes within cells are escaped."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |\n" for line in lines
    )


def settings() -> str:
    """Write every setting with default, valid values and meaning."""
    rows = [
        (
            f"`{key}`",
            f"`{dumps(setting.default)}`",
            setting.kind,
            setting.meaning + (" Global file only." if setting.global_only else ""),
        )
        for key, setting in SETTINGS.items()
    ]
    return table(("setting", "default", "valid", "what it does"), rows)


def filters() -> str:
    """Write every key of `memory.yaml` with its default and meaning."""
    rows = [(f"`{name}`", f"`{dumps(value)}`", FILTER_MEANINGS[name]) for name, value in FILTERS.items()]
    return table(("key", "default", "what it does"), rows)


def codes() -> str:
    """Write every code with its exit status, meaning and remedy."""
    rows = [(f"`{name}`", str(code.exit_status), code.meaning, code.hint) for name, code in CODES.items()]
    return table(("code", "exit", "what happened", "what to do"), rows)


def rebase_warnings() -> str:
    """Write every warning of a rebase."""
    return table(("warning", "meaning"), [(f"`{name}`", meaning) for name, meaning in rebase_shown.WARNINGS.items()])


def warnings() -> str:
    """Write every warning of an answer."""
    return table(("warning", "meaning"), [(f"`{name}`", meaning) for name, meaning in WARNINGS.items()])


def findings() -> str:
    """Write what `session verify` can find."""
    rows = [(f"`{name}`", "damage" if name in DAMAGE else "harmless", meaning) for name, meaning in MEANINGS.items()]
    return table(("finding", "kind", "meaning"), rows)


def marks() -> str:
    """Write the variables that mark an agent."""
    return ", ".join(f"`{name}`" for name in AGENT_MARKS) + "\n"


def commands() -> str:
    """Write the help of every command, as the shell prints it."""
    top = application()
    parts = [f"```text\n{_help(top, PROGRAM)}\n```\n"]
    for verb in VERBS:
        command = top
        for word in verb.words:
            assert isinstance(command, click.Group)
            found = command.get_command(click.Context(command), word)
            assert found is not None
            command = found  # type: ignore[assignment]
        parts.append(f"## {' '.join(verb.words)}\n\n```text\n{_own_help(command, verb)}\n```\n")
    return "\n".join(parts)


def _help(command: click.Command, name: str) -> str:
    return command.get_help(click.Context(command, info_name=name, max_content_width=100, terminal_width=100)).rstrip()


def _own_help(command: click.Command, verb: Verb) -> str:
    """Give a command's help without the options that every command has; they stand once at the top."""
    own = click.Command(
        command.name,
        help=command.help,
        params=[param for param in command.params if param.name not in {option.name for option in GLOBAL_OPTIONS}],
    )
    return _help(own, f"{PROGRAM} {' '.join(verb.words)}")


def transcript() -> str:
    """Write what `make run` shows first; references are random, so one stands for all."""
    command = [sys.executable, str(ROOT / "examples/show.py")]
    environment = {**os.environ, "TZ": "UTC"}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=True)
    shown = done.stdout.split("$ pi-context session tree")[0].split("\n", 1)[1].strip()
    named: dict[str, str] = {}  # references are random: each becomes one that is the same every time
    shown = re.sub(r"h_[\w-]{22}", lambda found: named.setdefault(found[0], _reference(len(named))), shown)
    shown = shown.replace(f"{OUTPUT_LINE}\n", "")
    return f"```text\n{shown}\n```\n"


MAKERS: dict[str, Callable[[], str]] = {
    "settings": settings,
    "filters": filters,
    "codes": codes,
    "warnings": warnings,
    "rebase-warnings": rebase_warnings,
    "findings": findings,
    "marks": marks,
    "commands": commands,
    "transcript": transcript,
}


def _reference(number: int) -> str:
    digest = hashlib.sha256(str(number).encode()).digest()[:16]
    return "h_" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def made_anew(text: str) -> str:
    """Give a page with its made blocks as the code makes them now."""
    return BLOCK.sub(lambda found: f"{found[1]}{MAKERS[found[2]]()}{found[3]}", text)
