"""Show the main job on the bundled sessions: a search, a verified read of the first hit, the session as a tree.

Runs the real command in a scratch agent folder, so nothing in the checkout or in your home is touched.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SESSIONS = Path(__file__).resolve().parent / "sessions"
GROWN = next(iter(sorted(SESSIONS.glob("*.jsonl"), reverse=True)))


def run(*words: str, agent_dir: str) -> str:
    """Run pi-context as a user would, show the command and what it prints, and give what it printed."""
    print(f"\n$ pi-context {' '.join(words)}", flush=True)
    command = [sys.executable, "-m", "pi_context", *words, "--session", str(GROWN), "--agent-dir", agent_dir]
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=False)
    if done.returncode:
        sys.exit(done.stderr or done.stdout)
    print(done.stdout, end="", flush=True)
    return done.stdout


def main() -> None:
    """Walk through the main job."""
    print("A session was compacted; its summary no longer says which pauses were decided. The log still does.")
    with tempfile.TemporaryDirectory() as agent_dir:
        found = run("history", "search", "pause", "attempts", "decision", agent_dir=agent_dir)
        first = "h_" + found.split("read h_", 1)[1].split()[0]
        run("history", "read", first, agent_dir=agent_dir)
        run("session", "tree", agent_dir=agent_dir)


if __name__ == "__main__":
    main()
