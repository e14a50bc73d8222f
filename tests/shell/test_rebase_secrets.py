"""A secret of a session is in that session, and in nothing that a rebase says, records or keeps."""

import pytest
from dry_runs import SECRET
from pi_logs import Json, entry, message, talk
from rebase_acts import Acts
from shelled import Said, Shell

TALK = talk(4)


def with_secrets() -> list[Json]:
    """Give a conversation that holds a secret wherever a log may have one."""
    called = {"type": "toolCall", "id": SECRET, "name": SECRET, "arguments": {SECRET: SECRET}}
    return [
        message(1, None, "user", f"the key is {SECRET}"),
        entry(4, 1, "session_info", name=f"about {SECRET}"),
        message(5, 4, "assistant", "", content=[called]),
        message(6, 5, "toolResult", f"got {SECRET}" * 100, toolCallId=SECRET, toolName=SECRET),
        entry(7, 6, "model_change", provider=SECRET, modelId=f"m-{SECRET}"),
        message(8, 7, "user", "bye") | {"id": SECRET},
        message(9, 7, "user", "bye bye"),
    ]


def leaks(said: Said) -> set[str]:
    """Give the pieces of the secret that were said."""
    return {piece for piece in _PIECES if piece in said.out + said.err}


_PIECES = {SECRET[at : at + 7] for at in range(4, len(SECRET) - 6)}


def test_secrets_are_nowhere_but_in_the_sessions(shell: Shell, rebase: Acts) -> None:
    """Neither what is said nor what is recorded, staged or kept as a key holds a piece of one."""
    file = shell.add(*with_secrets())
    operation = rebase.unfinished(file)
    said = [rebase("--session", file, *more, expect=1) for more in ((), ("--yes",), ("--yes", "--json"))]
    said += [rebase("--recover", operation, *more) for more in ((), ("--json",), ("-v",))]
    said += [
        rebase("--session", file, *more, typed="y\n") for more in ((), ("--again",), ("--yes", "--again", "--json"))
    ]
    said += [rebase("--list", *more) for more in ((), ("--json",), ("-v",))]
    for each in said:
        assert leaks(each) == set(), each
    check_nothing_kept(shell)


@pytest.mark.parametrize("where", ["file name", "session id", "leaf"])
def test_a_secret_that_a_journal_would_repeat_is_refused(shell: Shell, rebase: Acts, where: str) -> None:
    """A journal names file, session and leaf; where one of these is a secret there is none, and the refusal is silent."""
    last = message(5, 4, "user", "bye") | ({"id": SECRET} if where == "leaf" else {})
    shell.add(
        *TALK, last,
        name=f"{SECRET}.jsonl" if where == "file name" else "s1.jsonl",
        identity=f"s-{SECRET}" if where == "session id" else "s1",
    )  # fmt: skip

    rebase.refused("--yes", code="source-names-secret")
    for words in (("--yes",), ("--yes", "--json"), ("--dry-run", "-v"), ("-v",)):
        assert leaks(rebase(*words, expect=1, typed="y\n")) == set()
    assert rebase.json("--yes", "--leaf", "00000004", expect=0 if where == "leaf" else 1)
    check_nothing_kept(shell)


def check_nothing_kept(shell: Shell) -> None:
    """Hold that no file of ours has a piece of the secret."""
    for path in [*(shell.sessions / ".ds4-rebase").rglob("*"), *(shell.agent_dir / "pi-context").rglob("*")]:
        if path.is_file():
            assert {piece for piece in _PIECES if piece.encode() in path.read_bytes()} == set(), path
