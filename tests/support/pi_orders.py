"""Orders to the real SDK, which it carries out on the files themselves, and what it answers."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from pi_lab import Lab

Json = dict[str, Any]

_SCRIPT = Path(__file__).parents[1] / "rebase_" / "pi_sessions.mjs"


def ordered(pi: Lab, *orders: Json) -> list[Any]:
    """Carry out orders one after the other, and give the answers."""
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "orders.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(orders, file)
        told = pi.run(_SCRIPT, pi.sdk, path, HOME=home, PI_CODING_AGENT_DIR=home)
    return [json.loads(answer) for answer in told.split("\n")[:-1]]


def opened(pi: Lab, *files: str) -> list[Any]:
    """Open files, and give what Pi makes of each."""
    return ordered(pi, *({"do": "open", "file": file} for file in files))


def say(pi: Lab, file: str, *texts: str) -> Any:
    """Say something at the end of a file, user and assistant in turn."""
    return ordered(pi, {"do": "say", "file": file, "texts": texts})[0]


def rewritten(pi: Lab, *files: str) -> list[bytes]:
    """Give what the engine would write for each file, line by line."""
    with tempfile.TemporaryDirectory() as home:
        script = Path(home, "again.mjs")
        script.write_text(_AGAIN, "utf-8")
        told = pi.run(script, *files)
    return [bytes.fromhex(answer) for answer in told.split("\n")[:-1]]


_AGAIN = """
import { readFileSync } from "node:fs";
for (const file of process.argv.slice(2)) {
  const lines = readFileSync(file, "utf8").split("\\n").slice(0, -1);
  const again = lines.map((line) => JSON.stringify(JSON.parse(line)) + "\\n").join("");
  console.log(Buffer.from(again, "utf8").toString("hex"));
}
"""
