"""The made files of the extension: what Pi has to know of the tools, said once in Python."""

import json
from pathlib import Path

from pi_context.memory_view import SCHEMA as VIEW
from pi_context.tools import MEMORY, READ, RECALL, STATUS, TOOLS
from recall import wire

FOLDER = Path(__file__).resolve().parents[2] / "pi_context" / "extension"
_SCHEMAS = {RECALL: wire.RESULT, READ: wire.READ, STATUS: wire.STATUS, MEMORY: VIEW}


def tools() -> str:
    """Write the tools, each with the answer that Pi's side gives where nobody else can."""
    told = [
        {**tool._asdict(), "unavailable": wire.unavailable(_SCHEMAS[tool.name], "server-unavailable")} for tool in TOOLS
    ]
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"
