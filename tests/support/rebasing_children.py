"""Real processes that rebase by the command itself, and stop where a test wants them to."""

from children import Child, child, hear
from shelled import Shell

from rebase.steps import COURSE

STOPPING = """
import os, sys
home, project, stage, moment, *words = sys.argv[1:]
os.environ["HOME"] = home
os.chdir(project)
import pi_context.surroundings
from faults import WatchedFiles
from pi_context.main import main

class Stopping(WatchedFiles):
    written = 0

    def perform(self, effect):
        if effect.name == "replace" and os.path.basename(os.path.dirname(effect.other)) == "operations":
            self.written += 1
            if self.written == int(stage) and moment == "before":
                self.stop()
            effect.act()
            if self.written == int(stage) and moment == "after":
                self.stop()
        else:
            effect.act()

    def stop(self):
        print("ready", flush=True)
        sys.stdin.readline()

pi_context.surroundings.RealFiles = Stopping
if stage == "0":
    Stopping().stop()
sys.exit(main(words))
"""
"""The command; stops before or after a stage is recorded until a line comes, or before it begins."""

STAGES = {name: number for number, name in enumerate(COURSE.stages, 1)}


def begun(shell: Shell, *words: object, stage: str = "", moment: str = "before") -> Child:
    """Start the command, and wait until it is there: at the recording of a stage, or at its beginning."""
    number = STAGES[stage] if stage else 0
    process = child(STOPPING, *map(str, (shell.home, shell.project, number, moment, *words)))
    said = hear(process)
    assert said == "ready", (said, process.communicate())
    return process
