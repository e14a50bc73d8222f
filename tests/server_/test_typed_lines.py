"""What a person types after `/context`."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pi_desk import Desk, Pi
from served import Served

from pi_context.server import words
from pi_context.server.words import OFFERED, UsageError

Serve = Callable[..., Served]


def test_a_search_is_a_list_to_choose_from(serve: Serve) -> None:
    """Each hit has a title, and can be viewed, with its neighbours."""
    served = serve()
    told = served.typed('history search "retry budget" --limit 2')
    first = told["list"][0]

    assert told["status"] == "ok"
    assert len(told["list"]) == 2
    assert first["title"].startswith(("The retry budget", "Where is the retry"))
    assert "read h_" in told["text"]
    assert "retry" in served.typed(f"history read {first['reference']}")["text"]
    shown = served.typed(f"session show {first['entryId']} -C 1")["text"]
    assert shown.count("verified sha256") >= 2


def test_quotes_are_forgiven_and_keep_a_phrase() -> None:
    """A lone quote is text, and what stood between quotes is one phrase."""
    assert words.split("history search don't") == ["history", "search", "don't"]
    assert words.read(words.split('history search "retry budget" x'))[1]["query"] == ['"retry budget"', "x"]
    assert words.read(words.split("history search -Wall --session x"))[1]["query"] == ["-Wall", "--session", "x"]


@pytest.mark.parametrize(
    "line", ["histoy", "history", "history serch x", "rebase --nope", "index drop", "--session x history status",
             "config set", "serve", "doctor", "rebase --recover", "audit", "history search"],
)  # fmt: skip
def test_unknown_words_get_a_line_of_usage(serve: Serve, line: str) -> None:
    """One line that says how it would be right, and the exit status of usage."""
    told = serve().typed(line)

    assert (told["status"], told["exitStatus"], told["code"]) == ("usage", 2, "usage")
    assert "Usage: /context" in told["text"]
    assert "\n" not in told["text"]


def test_every_command_that_is_offered_has_its_help() -> None:
    """`help` lists them all, and tells of each."""
    listed = words.help_for([])
    for verb in OFFERED:
        assert " ".join(verb.words) in listed
        assert verb.help in words.help_for(verb.words)
    with pytest.raises(UsageError):
        words.read(["index", "drop"])


def test_what_is_only_the_owners_needs_a_person_who_agrees(desk: Desk, serve: Serve) -> None:
    """It is asked for first; sent again as the answer says, it is done. Without a UI nobody can agree."""
    served = serve()
    line = "config set privacy.localProviders ollama,mine --global"
    told = served.typed(line)
    assert (told["status"], told["needs"]) == ("asks", "confirm")
    assert not (desk.agent_dir / "context.json").exists()

    alone = served.call("command", {"line": line, "confirmed": True}, actor="user", hasUI=False)
    assert alone["code"] == "owner-act-required"
    assert not (desk.agent_dir / "context.json").exists()

    done = served.call(told["action"]["method"], told["action"]["params"], actor="user")
    assert done["status"] == "ok"
    assert "mine" in (desk.agent_dir / "context.json").read_text("utf-8")


def test_saved_changes_apply_to_the_next_server(serve: Serve) -> None:
    """As everywhere else: a session keeps the settings that it began with."""
    served = serve()
    assert served.typed("config set historyTools.enabled false")["status"] == "ok"

    assert served.tool("recall", query="budget")["hits"]
    assert serve().tool("recall", query="budget")["code"] == "history-disabled"


def test_owner_scripts_cannot_be_switched_on_in_pi(serve: Serve) -> None:
    """That is set on a terminal, or by editing the file."""
    told = serve().typed("config set owner.scripts true --global", confirmed=True)

    assert told["code"] == "owner-act-required"


@pytest.mark.parametrize("option", ["--audience local", "--reveal"])
def test_a_person_may_see_more_after_agreeing(serve: Serve, option: str) -> None:
    """With a remote model a typed search shows what that may see; the owner may see more, and is asked."""
    served = serve(provider="openai")
    assert all("seven" not in item["title"] for item in served.typed("history search vault door")["list"])
    told = served.typed(f"history search vault door {option}")
    assert told["needs"] == "confirm"

    assert served.call("command", told["action"]["params"], actor="user")["status"] == "ok"


def test_json_is_the_answer_of_the_shell(serve: Serve) -> None:
    """`--json` gives the text of the answer."""
    told = serve().typed("history status --json")

    assert json.loads(told["text"]) == told["answer"]


def test_the_overview_holds_no_text(desk: Desk, serve: Serve) -> None:
    """Window, index, operations and rebase in numbers, from a session in which secrets stand."""
    served = serve()
    Pi(served)
    told = served.typed("")["answer"]

    assert {row["role"]: row["messages"] for row in told["usage"]} == {"user": 2, "assistant": 2}
    assert told["tokens"] == sum(row["tokens"] for row in told["usage"])
    assert told["compactions"] == 0
    assert told["rebase"]["status"] == "preview"
    assert told["index"]["current"] is False
    assert "vault" not in json.dumps(told)
    assert served.typed("")["text"].startswith("Context: about")
    assert desk.file.read_bytes() == desk.before


@pytest.mark.parametrize(
    ("line", "some"),
    [("", {"history", "rebase", "config", "help"}), ("hi", {"history"}), ("history s", {"history search", "history status"}),
     ("history search x --sc", {"history search x --scope"}),
     ("history search --scope cur", {"history search --scope current-branch"}),
     ("rebase --", {"rebase --fit", "rebase --back"}), ("config set historyTools.e", {"config set historyTools.enabled"}),
     ("help re", {"help rebase"}), ("rebase --recover ", set()), ("nonsense ", set())],
)  # fmt: skip
def test_lines_are_completed(serve: Serve, line: str, some: set[str]) -> None:
    """A completion is the whole line with the last word completed."""
    found: list[Any] = serve().call("complete", {"line": line}, actor="user")["completions"]

    assert some <= {each["value"] for each in found}
    assert all(each["value"].startswith(line) and each["label"] for each in found)
    assert bool(found) is bool(some)


@pytest.mark.parametrize(("line", "hint"), [
    ("rebase --recover nope", "/context rebase --list"), ("config set nonsense 1", "/context config"),
    ("session show nothing", "/context session tree"),
])  # fmt: skip
def test_what_to_do_next_is_named_as_it_is_typed_here(serve: Serve, line: str, hint: str) -> None:
    """A remedy names `/context …`, and no command of a shell where the same is in Pi."""
    text = serve().typed(line)["text"]

    assert hint in text
    assert "pi-context " not in text.replace("in a shell", "")


def test_an_operation_that_is_not_there_is_not_asked_about(serve: Serve) -> None:
    """Nobody agrees to the end of nothing."""
    told = serve().typed("rebase --recover nope")

    assert (told["status"], told["code"]) == ("refused", "operation-unknown")


def test_who_begins_is_no_error(desk: Desk, serve: Serve) -> None:
    """`/context` before the first word says what there will be."""
    told = serve(sessionFile=str(desk.sessions / "new.jsonl"), leafId=None).typed("")

    assert told["status"] == "ok"
    assert "/context help" in told["text"]
    assert told["answer"] == {"code": "session-unsaved"}


def test_a_person_who_finds_nothing_learns_for_whom_it_was_looked_up(serve: Serve) -> None:
    """What a remote model may not receive is not found for it; the person may look again with their own eyes."""
    told = serve(provider="openai").typed("history search vault door opens")
    assert "--audience local" in told["text"] or told["list"]
    nothing = serve(provider="openai").typed("history search xyzzy")
    assert "--audience local" in nothing["text"]
    assert "--audience local" not in serve().typed("history search xyzzy")["text"]


@pytest.mark.parametrize(("value", "saved"), [
    ('["a","b"]', ["a", "b"]), ("'[a, b]'", ["a", "b"]), ("a,b", ["a", "b"]), ('"[a"', None), ("{a}", None),
])  # fmt: skip
def test_a_list_may_be_typed_as_json(desk: Desk, serve: Serve, value: str, saved: list[str] | None) -> None:
    """Quotes that the line lost are no part of a name; what is no list of names is refused."""
    told = serve().typed(f"config set privacy.localProviders {value} --global", confirmed=True)

    assert told["status"] == ("ok" if saved else "refused")
    if saved:
        found = json.loads((desk.agent_dir / "context.json").read_text("utf-8"))
        assert found["privacy"]["localProviders"] == saved


def test_a_removal_is_shown_and_agreed_to(desk: Desk, serve: Serve) -> None:
    """`/context memory remove` shows what it would do, and does exactly that when a person agrees; then all is masked."""
    served = serve()
    told = served.typed("memory remove name Vault")
    assert (told["status"], told["needs"]) == ("asks", "confirm")
    assert "stands in" in told["text"]
    assert not list((desk.agent_dir / "pi-context").glob("projects/*/memory.jsonl"))
    assert served.call("command", told["action"]["params"], actor="user")["status"] == "ok"

    assert "[removed]" in json.dumps(served.tool("recall", query="door opens"))
    assert served.tool("recall", query="vault")["hits"] == []
    listed = served.typed("memory removed --json", confirmed=True)["answer"]["items"]
    assert served.typed(f"memory restore {listed[0]['id']}", confirmed=True)["status"] == "ok"
    assert served.tool("recall", query="vault")["hits"]
    assert desk.file.read_bytes() == desk.before


def test_pins_are_entries_that_pi_appends(desk: Desk, serve: Serve) -> None:
    """A person's word gives the entry; the file is Pi's to write."""
    told = serve().typed("pin Keep the tests green.")
    assert told["append"]["customType"] == "context-pin-v1"
    assert told["append"]["data"]["item"]["content"] == "Keep the tests green."
    assert desk.file.read_bytes() == desk.before
    assert serve().typed("unpin nothing")["code"] == "memory-item-unknown"
    assert serve().typed("memory add The port is 8080. --scope galaxy")["code"] == "memory-wish-unknown"
