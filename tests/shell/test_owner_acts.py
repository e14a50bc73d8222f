"""What only the owner may do: a terminal or `owner.scripts`, and never under an agent's mark."""

from pathlib import Path

import pytest
from pi_logs import message, talk
from shelled import Shell

from pi_context.environment import AGENT_MARKS, agent_mark

OWNER_ACTS = [
    ("history", "search", "zebra", "--reveal"),
    ("history", "search", "zebra", "--scope", "everywhere"),
    ("history", "search", "zebra", "--audience", "local"),
    ("history", "search", "zebra", "--audience", "ollama"),
    ("history", "include", "s1"),
    ("session", "list", "--all"),
    ("session", "show", "00000001", "--reveal"),
    ("session", "context", "--reveal"),
    ("audit",),
    ("config", "set", "historyTools.allowProjectScope", "true", "--global"),
    ("config", "set", "privacy.remoteDefaultAllowed", '["normal","sensitive"]'),
]


@pytest.mark.parametrize("words", OWNER_ACTS, ids=" ".join)
def test_owner_acts_need_a_person_and_no_agent(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """In a pipe an owner act is refused with its code; on a terminal it works; under a mark it is refused always."""
    shell.add(*talk(["a zebra"]))

    assert "owner" in (refused := shell(*words, expect=1)).out + refused.err
    shell(*words, expect=0, terminal=True)
    shell.owner_scripts()
    shell(*words, expect=0)
    shell.owner_scripts()
    monkeypatch.setenv("CLAUDECODE", "1")
    shell(*words, expect=1, terminal=True)


@pytest.mark.parametrize("name", [mark.replace("*", "X") for mark in AGENT_MARKS])
def test_every_mark_counts(name: str) -> None:
    """Each documented variable marks an agent; an empty one does not, nor do folders that people set."""
    assert agent_mark({name: "1"}) == name
    assert agent_mark({name: ""}) == ""
    assert agent_mark({"PI_CODING_AGENT_DIR": "/x", "CODEX_HOME": "/y", "HOME": "/z"}) == ""


def test_owner_scripts_counts_in_the_global_file_only(shell: Shell) -> None:
    """A project cannot make itself the owner."""
    shell.add(*talk(["a zebra"]))
    (shell.project / ".pi").mkdir()
    (shell.project / ".pi" / "context.json").write_text('{"owner": {"scripts": true}}', "utf-8")

    shell("audit", expect=1)


def test_owner_scripts_is_not_set_by_a_script(shell: Shell) -> None:
    """Only a terminal, or an editor, turns `owner.scripts` on."""
    shell("config", "set", "owner.scripts", "true", "--global", expect=1)
    shell("config", "set", "owner.scripts", "true", "--global", expect=0, terminal=True)


def test_a_pipe_is_an_unknown_remote_audience(shell: Shell) -> None:
    """What is classified above what remote providers may see is not in a pipe's answers, and is on a terminal."""
    shell.add(
        message(1, None, "user", "[context:sensitive]the zebra of Mr. Tanaka[/context:sensitive]"),
        message(2, 1, "assistant", "an ordinary zebra"),
    )

    piped = shell.search("zebra")
    seen = shell("history", "search", "zebra", "--json", expect=0, terminal=True).json

    assert [hit["entryId"] for hit in piped["hits"]] == ["00000002"]
    assert all("score" not in hit for hit in piped["hits"])
    assert sorted(hit["entryId"] for hit in seen["hits"]) == ["00000001", "00000002"]
    assert {hit["classification"] for hit in seen["hits"]} == {"normal", "sensitive"}


def test_a_local_only_entry_never_leaves(shell: Shell) -> None:
    """No setting gives `local-only` to a remote provider; a local one, named by the owner, sees it."""
    shell.settings({"owner": {"scripts": True}, "privacy": {"remoteProviders": {"cloud": ["local-only"]}}})
    shell.add(message(1, None, "user", "[context:local-only]zebra[/context:local-only]"))

    assert shell.found("zebra", "--audience", "cloud") == []
    assert shell.found("zebra", "--audience", "ollama") == ["00000001"]


class TestUnderAMark:
    """An agent's shell reaches the current project only, and passes the gates of a read."""

    @pytest.fixture(autouse=True)
    def _mark(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        shell.owner_scripts()
        self.own = shell.add(
            *talk(["own zebra"]), message(2, 1, "user", "[context:sensitive]hidden zebra[/context:sensitive]")
        )
        other = shell.home / "other"
        other.mkdir()
        self.foreign = shell.add(*talk(["foreign zebra"]), name="f.jsonl", identity="ffff", cwd=str(other))
        monkeypatch.setenv("CODEX_SANDBOX", "1")

    def test_its_own_project_is_searched(self, shell: Shell) -> None:
        """Searching the own session works, for a remote audience."""
        assert shell.found("zebra") == ["00000001"]
        assert shell.found("zebra", "--session", self.own) == ["00000001"]

    @pytest.mark.parametrize(
        "words",
        [
            ("history", "search", "zebra", "--session", "{foreign}"),
            ("history", "search", "zebra", "--session", "ffff"),
            ("history", "search", "zebra", "--project", "{home}/other"),
            ("session", "list", "--project", "{home}/other"),
            ("session", "show", "ffff:00000001"),
            ("session", "tree", "--session", "{foreign}"),
            ("session", "context", "--session", "{foreign}"),
            ("history", "search", "zebra", "--approve", "--scope", "project"),
        ],
        ids=" ".join,
    )
    def test_another_project_is_not_reached(self, shell: Shell, words: tuple[str, ...]) -> None:
        """Neither a session, nor a project, nor an id of another project opens anything."""
        filled = [word.format(foreign=self.foreign, home=shell.home) for word in words]

        assert "foreign zebra" not in (said := shell(*filled, expect=1)).out + said.err

    def test_looking_passes_the_gates(self, shell: Shell) -> None:
        """What a read would not give, `session show`, `tree` and `context` do not give either."""
        for words in (("session", "show", "00000002"), ("session", "tree", "-v"), ("session", "context")):
            assert "hidden" not in shell(*words, expect=0).out

    def test_an_excluded_session_cannot_be_looked_at(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        """An exclusion holds for an agent's shell too."""
        monkeypatch.delenv("CODEX_SANDBOX")
        shell("history", "exclude", "s1", expect=0)
        monkeypatch.setenv("CODEX_SANDBOX", "1")

        shell("session", "show", "s1:00000001", expect=1)
        assert shell("session", "list", "--json", expect=0).json == {"sessions": []}


def test_inside_pi_the_running_session_is_the_current_one(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With `$PI_SESSION_FILE` the session that runs is searched, from whatever folder the shell stands in."""
    path = shell.add(*talk(["running zebra"]))
    shell.add(*talk(["newer zebra"], start=5), name="t.jsonl", identity="tttt")
    monkeypatch.setenv("PI_SESSION_FILE", str(path))
    monkeypatch.chdir(tmp_path)

    assert shell.found("zebra") == ["00000001"]
