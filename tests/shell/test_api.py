"""The Python API: the same answers as the shell's `--json`."""

from pathlib import Path

import pytest
from pi_logs import message, talk
from shelled import Shell

from foundation.errors import ContextError
from pi_context import api


def opened(shell: Shell, path: Path, **more: str) -> api.History:
    """Open the history of a session of the scratch machine."""
    return api.open(agent_dir=shell.agent_dir, session=path, **more)


def test_the_api_gives_what_the_shell_gives(shell: Shell) -> None:
    """Search, read and status give the objects that `--json` prints, but for the random references."""
    path = shell.add(*talk(["a zebra", "another zebra"]))
    history = opened(shell, path)

    ours, theirs = history.search("zebra"), shell.search("zebra")
    for answer in (ours, theirs):
        for hit in answer["hits"]:
            del hit["sourceRef"]
    assert ours == theirs
    assert history.status() == shell("history", "status", "--json", expect=0).json
    read = history.read(history.search("another")["hits"][0]["sourceRef"], start_line=1, max_lines=5)
    assert (read["text"], read["verified"]) == ("another zebra", True)


def test_a_refusal_is_an_answer(shell: Shell) -> None:
    """Nothing foreseeable raises once the history is open."""
    history = opened(shell, shell.add(*talk(["a zebra"])))

    assert history.search("")["code"] == "invalid-query"
    assert history.search("zebra", limit=99)["code"] == "invalid-limit"
    assert history.read("h_unknown")["code"] == "reference-unavailable"


def test_opening_what_is_not_there_raises_its_code(shell: Shell) -> None:
    """A session that does not exist is said at once."""
    with pytest.raises(ContextError) as caught:
        opened(shell, shell.sessions / "nope.jsonl")

    assert caught.value.code == "file-missing"


def test_the_audience_is_remote_unless_the_program_is_the_owners(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an audience answers keep to what unknown providers may see; under an agent's mark `local` is refused."""
    path = shell.add(message(1, None, "user", "[context:sensitive]zebra[/context:sensitive]"))

    assert opened(shell, path).search("zebra")["hits"] == []
    assert opened(shell, path, audience="local").search("zebra")["hits"]
    monkeypatch.setenv("PI_SESSION_ID", "x")
    with pytest.raises(ContextError) as caught:
        opened(shell, path, audience="local")
    assert caught.value.code == "owner-act-required"


def test_a_growing_session_is_followed(shell: Shell) -> None:
    """What Pi appends after the history was opened is found by the next search."""
    path = shell.add(*talk(["a zebra"]))
    history = opened(shell, path)
    assert len(history.search("zebra")["hits"]) == 1

    shell.add(*talk(["a zebra", "one more zebra"]))

    assert len(history.search("zebra")["hits"]) == 2
