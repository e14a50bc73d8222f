"""Every gate of a rebase, reached through its dry run: a code, a remedy, and nothing left behind."""

import json

import pytest
from bad_sources import BAD, HEAD
from dry_runs import Dry
from pi_logs import Json, log, message, talk
from rebasing import calls
from shelled import Shell

from foundation.errors import CODES

TALK = talk(4)


@pytest.mark.parametrize("case", BAD)
def test_each_gate_answers_with_code_and_remedy(shell: Shell, dry: Dry, case: str) -> None:
    """A bad source is refused by its code, to a program and to a person, and nothing is left behind."""
    code, data = BAD[case]
    file = shell.write("bad.jsonl", data)
    answer = dry.json("--session", file, expect=1)
    said = dry("--session", file, expect=1)

    assert (answer["status"], answer["code"]) == ("unavailable", code)
    if code != "checkpoint-over-budget":  # that one shows all figures instead
        assert answer["hint"]
        assert answer["message"] in said.err
        assert answer["hint"] in said.err
        assert said.out == ""


def test_no_session_and_no_such_session(shell: Shell, dry: Dry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any session, with one that is not there, and in a Pi that has not written its file yet."""
    assert dry.json(expect=1)["code"] == "no-session"
    assert dry.json("--session", "77", expect=1)["code"] == "session-not-found"
    assert dry.json("--session", shell.sessions / "x.jsonl", expect=1)["code"] == "file-missing"
    assert dry.json("--session", shell.sessions, "--session-dir", "/nowhere", expect=1)["code"] == "not-a-file"
    monkeypatch.setenv("PI_SESSION_FILE", str(shell.sessions / "soon.jsonl"))
    assert dry.json(expect=1)["code"] == "session-unsaved"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"sessionRebase": {"enabled": False}}, "rebase-disabled"),
        ({"historyTools": {"enabled": False}}, "history-disabled"),
        ({"sessionRebase": {"enabled": False}, "historyTools": {"enabled": False}}, "rebase-disabled"),
    ],
)
def test_what_is_switched_off_is_refused(shell: Shell, dry: Dry, settings: Json, code: str) -> None:
    """Rebase and the history tools each can be off; the gates answer in their order, before any file is read."""
    shell.write("bad.jsonl", log(HEAD | {"version": 1, "cwd": str(shell.project)}))
    shell.settings(settings)

    assert dry.json(expect=1)["code"] == code


def test_an_untrusted_project_is_refused(shell: Shell, dry: Dry) -> None:
    """As Pi decides it, and --approve is for this one command."""
    shell.add(*TALK)

    assert dry.json("--no-approve", expect=1)["code"] == "project-not-trusted"
    assert dry.json("--approve")["status"] == "preview"


def test_a_cut_exchange_names_the_leaf_and_counts(shell: Shell, dry: Dry) -> None:
    """Anybody learns how many are cut and where to rebase instead; which they are, the owner with -v alone."""
    shell.add(*talk(3), calls(4, 3, "bash"), message(5, 4, "user", "hm"))
    answer = dry.json("-v", expect=1)

    assert answer["toolExchangeDiagnostics"] == {"active": 1, "historical": 0}
    assert answer["lastWholeLeaf"] == "00000003"
    assert "--leaf 00000003" in answer["hint"]
    assert "openEntries" not in answer
    assert "00000004" not in dry("-v", expect=1).err
    assert dry.json("-v", expect=1, terminal=True)["openEntries"] == ["00000004"]
    assert "Cut at: 00000004" in dry("-v", expect=1, terminal=True).err
    assert "00000004" not in dry(expect=1, terminal=True).err
    assert dry.json("--leaf", answer["lastWholeLeaf"])["status"] == "preview"


def test_an_id_in_a_refusal_moves_no_terminal(shell: Shell, dry: Dry) -> None:
    """The leaf that a cut exchange names is shown as what it is."""
    shell.add(message(1, None, "user", "x") | {"id": "\x1b[2Jx"}, calls(2, None, "bash") | {"parentId": "\x1b[2Jx"})
    said = dry("-v", expect=1, terminal=True)

    assert "--leaf \\x1b[2Jx" in said.err
    assert "\x1b" not in said.err + said.out


class TestUnderAMark:
    """An agent may try a dry run on its own project, as anybody whose audience is unknown."""

    @pytest.fixture(autouse=True)
    def _mark(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        shell.owner_scripts()
        self.own = shell.add(*talk(["[context:sensitive]secretive[/context:sensitive]", "open"]))
        other = shell.home / "other"
        other.mkdir()
        self.foreign = shell.add(*TALK, name="f.jsonl", identity="ffff", cwd=str(other))
        monkeypatch.setenv("CLAUDECODE", "1")

    def test_its_own_project(self, shell: Shell, dry: Dry) -> None:
        """It gets the preview, no path, no text above its class, and the rebase itself is not its own to do."""
        said = dry("--show-handoff", terminal=True).out
        assert "secretive" not in said
        assert "The owner can do it" in said
        assert str(shell.sessions) not in said

    def test_nothing_else(self, shell: Shell, dry: Dry, monkeypatch: pytest.MonkeyPatch) -> None:
        """Other projects and excluded sessions are not there for it, and secrets are never shown."""
        assert dry.json("--session", "ffff", expect=1)["code"] == "session-not-found"
        assert dry.json("--session", self.foreign, expect=1)["code"] == "session-not-found"
        assert dry.json("--reveal", expect=1, terminal=True)["code"] == "owner-act-required"
        assert dry.json("--audience", "local", "--show-handoff", expect=1)["code"] == "owner-act-required"
        monkeypatch.delenv("CLAUDECODE")
        shell("history", "exclude", "s1", expect=0)
        monkeypatch.setenv("CLAUDECODE", "1")
        assert dry.json("--session", "s1", expect=1)["code"] == "session-not-found"
        assert dry.json(expect=1)["code"] == "no-session"


@pytest.mark.parametrize(
    "words",
    [
        ("--show-handoff",),
        ("--dry-run", "--list"),
        ("--dry-run", "--recover", "op"),
        ("--dry-run", "--confirm-plan", "x"),
        ("--list", "--fit"),
        ("--abandon", "a", "--adopt", "b"),
    ],
)
def test_words_that_do_not_go_together_are_usage(shell: Shell, words: tuple[str, ...]) -> None:
    """Nothing is guessed: they are refused as words, and nothing is done."""
    shell.add(*TALK)
    said = shell("rebase", *words, "--json", expect=2)

    assert json.loads(said.err)["error"]["code"] == "usage"
    assert said.out == ""


def test_every_code_of_the_gates_is_in_the_table() -> None:
    """What this file expects are codes that the docs list."""
    assert {code for code, _ in BAD.values()} <= set(CODES)
