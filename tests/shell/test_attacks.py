"""What somebody who writes the log, or runs as an agent, might try: held as kinds."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from pi_logs import entry, header, log, message, talk
from shelled import Shell

from pi_context import api

KEY = "ghp_" + "x7Kq2VtR9bLw4NzP8cYf3HsD6mJg1TuE5aQw"
ESCAPES = "\x1b[2J\x1b]0;own\x07\x9b31m"


def agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a command that an agent started."""
    monkeypatch.setenv("CLAUDECODE", "1")


@pytest.mark.parametrize("door", ["id", "file", "environment", "newest"])
def test_an_agent_cannot_name_an_excluded_session(shell: Shell, monkeypatch: pytest.MonkeyPatch, door: str) -> None:
    """What the owner excluded is not there for an agent, by whatever name it asks."""
    path = shell.add(*talk(["a zebra"]), identity="excluded")
    shell("history", "exclude", "excluded", expect=0)
    if door == "environment":
        monkeypatch.setenv("PI_SESSION_FILE", str(path))
    agent(monkeypatch)
    named = {"id": ["--session", "excluded"], "file": ["--session", str(path)]}.get(door, [])

    refused = "no-session" if door == "newest" else "session-not-found"
    assert shell.search("zebra", *named, expect=1)["code"] == refused
    for words in (["session", "verify"], ["session", "tree"], ["session", "context"], ["history", "read", "h_x"]):
        assert "zebra" not in shell(*words, *named, expect=1).out


def test_an_agent_hears_nothing_of_what_it_may_not_search(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither paths of other projects, nor numbers, nor the list of exclusions reach an agent."""
    shell.add(*talk(2))
    shell.write("other.jsonl", log(header("/elsewhere", "other"), *talk(1)) + b"garbage\n")
    shell("history", "exclude", "other", expect=0)
    agent(monkeypatch)

    for words in (["index", "update"], ["index", "rebuild"], ["index", "check"]):
        said = shell(*words, "--json", expect=0)
        assert "other.jsonl" not in said.out + said.err
    told = shell("doctor", "--json", expect=0).out
    assert "2 sessions" not in told
    assert '"2 found"' not in told
    shell("history", "exclusions", "--json", expect=1)


def test_a_classified_entry_shows_no_digest_to_others(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the digest or the length of a short text one could guess it."""
    shell.add(*talk(["[context:local-only]pin 4711[/context:local-only]"]))
    agent(monkeypatch)

    (told,) = shell("session", "show", "00000001", "--json", expect=0).json["entries"]
    assert told["code"] == "privacy-omitted"
    assert not {"sha256", "length", "offset", "text"} & set(told)


def hostile(text: str) -> list[dict[str, Any]]:
    """Give entries that carry a text wherever somebody who writes a log could put it."""
    return [
        message(1, None, "user", "zebra one") | {"id": text},
        entry(2, 1, text) | {"parentId": text},
        entry(8, 7, "label", targetId="00000002", label=text),
        entry(3, 2, "thinking_level_change", thinkingLevel=text),
        entry(4, 3, "model_change", provider=text, modelId=text),
        entry(5, 4, "session_info", name=text),
        message(6, 5, "assistant", "zebra two", model=text, provider=text),
        message(
            7, 6, "assistant", "", content=[{"type": "toolCall", "id": text, "name": text, "arguments": {"a": text}}]
        ),
    ]


EVERYWHERE = (
    ["history", "search", "zebra", "--scope", "current-session"], ["session", "list"], ["session", "tree", "-v"],
    ["session", "show", "00000006", "-C", "9"], ["session", "verify"], ["session", "context"], ["index", "check"],
)  # fmt: skip


@pytest.mark.parametrize("as_json", [False, True])
def test_no_log_speaks_to_the_terminal(shell: Shell, as_json: bool) -> None:
    """Control characters of a log come out as what they are, from whatever field they come."""
    head = header(str(shell.project), "s1") | {"parentSession": f"/x/{ESCAPES}.jsonl"}
    shell.write("s1.jsonl", log(head, *hostile(ESCAPES)))

    for words in EVERYWHERE:
        said = shell(*words, *["--json"] * as_json, "--color", "never", expect=0)
        assert not {char for char in said.out + said.err if char < " " or "\x7f" <= char <= "\x9f"} - {"\n"}, words


@pytest.mark.parametrize("as_json", [False, True])
def test_no_field_of_a_log_shows_a_secret(shell: Shell, as_json: bool) -> None:
    """A key in a name, a type, an id or a header is redacted like one in a text."""
    head = header(str(shell.project), "s1") | {"parentSession": f"/x/{KEY}.jsonl"}
    shell.write("s1.jsonl", log(head, *hostile(KEY)))

    for words in EVERYWHERE:
        said = shell(*words, *["--json"] * as_json, expect=0)
        assert KEY[8:] not in said.out + said.err, words


def test_a_secret_across_two_blocks_leaves_both(shell: Shell) -> None:
    """A message is redacted as a whole before its blocks are shown."""
    parts = [{"type": "text", "text": f"key {KEY[:18]}"}, {"type": "text", "text": f"{KEY[18:]} end"}]
    shell.add(message(1, None, "user", "", content=parts))

    for words in (["session", "context"], ["session", "show", "00000001"]):
        said = shell(*words, "--json", expect=0).out
        assert KEY[18:] not in said
        assert " end" in said


@pytest.mark.parametrize("audience", [None, "anthropic"])
def test_the_api_gives_everywhere_to_the_owner_alone(shell: Shell, audience: str | None) -> None:
    """A program that speaks for a provider cannot reach beyond its project."""
    shell.add(*talk(["a zebra"]))
    answer = api.open(agent_dir=shell.agent_dir, audience=audience).search("zebra", scope="everywhere")
    assert answer["code"] == "owner-act-required"
    assert api.open(agent_dir=shell.agent_dir, audience="local").search("zebra", scope="everywhere")["hits"]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_defect(shell: Shell, closed: str) -> None:
    """A command whose caller closed a stream does its work and ends as ever."""
    shell.add(*talk(1))
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m pi_context session list {closed}"], capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("after", [0.02, 0.05, 0.1, 0.2])
def test_an_interruption_ends_with_130_at_any_time(shell: Shell, after: float) -> None:
    """Ctrl-C gives no traceback, however early it comes."""
    shell.add(*talk(3))
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); print(flush=True);"
        "from pi_context.script import script; sys.argv[1:] = ['index', 'rebuild']; script()"
    )
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout is not None
    run.stdout.readline()
    time.sleep(after)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate()
    assert b"Traceback" not in told
    assert run.returncode in (0, 130)


@pytest.mark.parametrize("what", ["own folder", "pointer", "lock", "pipe", "agent folder"])
def test_something_in_the_way_is_named(shell: Shell, what: str) -> None:
    """A file where a folder is needed, or the other way round: a code, and what to do; never a defect or a hang."""
    shell.add(*talk(["a zebra"]))
    own = shell.agent_dir / "pi-context"
    agent_dir = shell.agent_dir
    if what == "own folder":
        own.write_text("x")
    elif what == "agent folder":
        agent_dir = shell.home / "file"
        agent_dir.write_text("x")
    else:
        own.mkdir()
        place = own / {"pointer": "index.json", "lock": "index.lock", "pipe": "index.json"}[what]
        os.mkfifo(place) if what == "pipe" else place.mkdir()
    known = ("in-the-way", "index-unavailable", "permission-denied", "session-not-found")

    for words in (["index", "update"], ["index", "rebuild"], ["index", "check"], ["index", "drop"], ["session", "list"],
                  ["history", "exclude", "s1"], ["config", "set", "--global", "historyTools.maxResults", "3"]):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "pi_context", "--agent-dir", str(agent_dir), *words, "--json"],
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert b"internal-error" not in done.stderr, words
        assert done.returncode == 0 or any(code.encode() in done.stderr for code in known), (words, done.stderr)


def test_a_list_without_an_index_has_the_ids_of_the_headers(shell: Shell) -> None:
    """The index is disposable: without one a session is still called what it is called."""
    shell.add(*talk(1), identity="the-id")
    (shell.agent_dir / "pi-context").write_text("no folder")

    (row,) = shell("session", "list", "--json", expect=0).json["sessions"]
    assert row["sessionId"] == "the-id"
    shell("session", "tree", "--session", row["sessionId"], expect=0)
