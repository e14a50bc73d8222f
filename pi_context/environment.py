"""The world as this process finds it: environment, home, clock, terminal, and whether an agent started us."""

import os
import sys
import time
from collections.abc import Mapping

AGENT_MARKS = (
    "PI_SESSION_ID",
    "PI_SESSION_FILE",
    "PI_CODING_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_*",
    "CODEX_*",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "GEMINI_CLI",
    "OPENCODE",
    "OPENCODE_*",
    "AIDER_*",
    "GOOSE_*",
    "CLINE_*",
    "AMP_*",
    "COPILOT_AGENT*",
    "AI_AGENT",
    "AGENT_SESSION_ID",
)
"""Variables that coding agents set for the commands they run; a name ending in `*` stands for all that start so."""

_NOT_MARKS = ("PI_CODING_AGENT_DIR", "CODEX_HOME")
"""Variables that people set for themselves although they look like a mark."""


def clock() -> int:
    """Give the present instant in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def token() -> str:
    """Make a reference: 128 random bits in 22 letters, digits, `-` and `_`."""
    from binascii import b2a_base64

    return "h_" + b2a_base64(os.urandom(16), newline=False).decode().rstrip("=").replace("+", "-").replace("/", "_")


def agent_mark(variables: Mapping[str, str]) -> str:
    """Name the variable that says an agent started this process; empty where none does."""
    for name in variables:
        if name in _NOT_MARKS or not variables[name]:
            continue
        for mark in AGENT_MARKS:
            if name == mark or (mark.endswith("*") and name.startswith(mark[:-1])):
                return name
    return ""


def is_terminal() -> bool:
    """Tell whether a person can type and read: standard input and output are both a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def home() -> str:
    """Give the home folder."""
    return os.path.expanduser("~")


def agent_dir(variables: Mapping[str, str], option: str | None) -> str:
    """Give Pi's agent folder: the option, else the environment, else `~/.pi/agent`."""
    chosen = option or variables.get("PI_CODING_AGENT_DIR") or os.path.join(home(), ".pi", "agent")
    return os.path.abspath(os.path.expanduser(chosen))
