"""`/context` in a real terminal: hits are a list to choose from, and a rebase asks first."""

import shutil
import subprocess
import time
from collections.abc import Iterator

import pytest
from live_pi import PATIENCE, LivePi

pytestmark = [
    pytest.mark.network,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed, so there is no terminal to drive"),
]


class Terminal:
    """Pi in a terminal of its own."""

    def __init__(self, machine: LivePi, *options: str) -> None:
        self._socket = str(machine.root / "tmux")
        words = [f"{name}={value}" for name, value in machine.environment.items()]
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "50", "-c", str(machine.project), "env", "-i",
                   *words, *machine.words(*options))  # fmt: skip

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-S", self._socket, *words]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=False).stdout

    def screen(self) -> str:
        """Give what is seen."""
        return self._tmux("capture-pane", "-p")

    def type(self, text: str, *keys: str) -> None:
        """Type a text, then press keys."""
        self._tmux("send-keys", "-l", text)
        time.sleep(0.5)
        for key in keys:
            self._tmux("send-keys", key)
            time.sleep(0.3)

    def press(self, *keys: str) -> None:
        """Press keys."""
        for key in keys:
            self._tmux("send-keys", key)
            time.sleep(0.3)

    def await_(self, text: str) -> str:
        """Wait until a text is seen; give the screen."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            seen = self.screen()
            if text in seen:
                return seen
            time.sleep(0.1)
        raise AssertionError(f"{text!r} was not seen in\n{self.screen()}")

    def leave(self) -> None:
        """End everything in it."""
        self._tmux("kill-server")


@pytest.fixture
def terminal(machine: LivePi) -> Iterator[Terminal]:
    """Give Pi in a terminal, in a session in which something was said."""
    pi = machine.start()
    pi.say("The retry budget is kept in chat-send, forty-two at most.")
    file = pi.file
    pi.close()
    made = Terminal(machine, "--session", str(file))
    yield made
    made.leave()


def test_a_hit_is_chosen_viewed_and_quoted(terminal: Terminal) -> None:
    """Search, choose, view; search again, quote: the words stand in the editor."""
    terminal.await_("fake-1")
    terminal.type("/context history search retry budget", "Escape", "Enter")
    terminal.await_("Found in the history")
    terminal.press("Enter")
    terminal.await_("View it with its neighbours")
    terminal.press("Enter")
    terminal.await_("verified sha256")
    terminal.type("/context history search retry budget", "Escape", "Enter")
    terminal.await_("Found in the history")
    terminal.press("Enter")
    terminal.await_("Quote it into the editor")
    terminal.press("Down", "Down", "Enter")
    terminal.await_("> The retry budget")


def test_words_are_completed(terminal: Terminal) -> None:
    """Tab offers the words of the command line."""
    terminal.await_("fake-1")
    terminal.type("/context hist", "Tab")
    time.sleep(1)
    terminal.type(" ")
    terminal.type("st", "Tab")
    terminal.press("Escape", "Enter")
    assert "indexed" in terminal.await_("ndex")


def test_a_rebase_asks_and_switches(terminal: Terminal, machine: LivePi) -> None:
    """The plan is shown, a yes carries it out, and a note says what came of it and how to go back."""
    terminal.await_("fake-1")
    terminal.type("/context rebase", "Escape", "Enter")
    terminal.await_("tokens")
    assert len(machine.sessions()) == 1
    terminal.press("Enter")
    terminal.await_("--back")
    assert len(machine.sessions()) == 2
