"""`session …`: list, show, tree, verify, context."""

import json
import os
from pathlib import Path

import pytest
from pi_logs import Json, entry, header, line, log, message, stamp, talk
from shelled import Shell

SECRET = "ghp_" + "A7b" * 12


def test_list_tells_the_projects_sessions_newest_first(shell: Shell) -> None:
    """`session list` shows name, time, entries, size, branches and where a session came from; only of this project."""
    old = shell.add(*talk(4), entry(9, 4, "session_info", name="the first"), name="a.jsonl", identity="aaaa")
    os.utime(old, ns=(10**18, 10**18))
    shell.written[old] = (old.stat().st_mtime_ns, old.stat().st_ino, old.read_bytes())
    new = shell.write(
        "b.jsonl", log(header(str(shell.project), "bbbb", parentSession=str(old)), *talk(2), message(7, 1, "user", "x"))
    )
    shell.add(*talk(1), name="c.jsonl", identity="cccc", cwd="/elsewhere")

    rows = shell("session", "list", "--json", expect=0).json["sessions"]
    told = shell("session", "list", expect=0).out

    assert [(row["sessionId"], row["entries"], row["branches"], row["bytes"]) for row in rows] == [
        ("bbbb", 3, 2, new.stat().st_size),
        ("aaaa", 5, 1, old.stat().st_size),
    ]
    assert rows[0]["current"] is True
    assert (rows[0]["from"], rows[1]["name"], rows[1]["to"]) == ("aaaa", "the first", ["bbbb"])
    assert rows[0]["lastUsed"] == stamp(7)
    assert "the first" in told
    assert "cccc" not in told


def test_list_all_names_every_project(shell: Shell) -> None:
    """`session list --all` is the owner's, and shows the sessions of all projects."""
    shell.owner_scripts()
    shell.add(*talk(1), name="c.jsonl", identity="cccc", cwd="/elsewhere")

    assert [row["cwd"] for row in shell("session", "list", "--all", "--json", expect=0).json["sessions"]] == [
        "/elsewhere"
    ]


def test_show_gives_an_entry_with_its_neighbours_verified(shell: Shell) -> None:
    """`session show ENTRY -C 1` shows the entry before and after along the branch, each with its digest."""
    from hashlib import sha256

    path = shell.add(*talk(5), message(20, 2, "user", "a side branch"), message(6, 5, "user", "end"))

    rows = shell("session", "show", "00000003", "-C", "1", "--json", expect=0).json["entries"]
    side = shell("session", "show", "00000014", "-C", "1", "--json", expect=0).json["entries"]

    assert [row["entryId"] for row in rows] == ["00000002", "00000003", "00000004"]
    assert [row["entryId"] for row in side] == ["00000002", "00000014"]
    assert rows[1]["sha256"] == sha256(path.read_bytes().splitlines()[3]).hexdigest()
    assert "turn 3" in shell("session", "show", "00000003", expect=0).out


def test_show_takes_the_start_of_an_id_and_another_session(shell: Shell) -> None:
    """An unambiguous beginning is enough; an ambiguous one names candidates; SESSION:ENTRY looks elsewhere."""
    shell.add(*talk(["other words"]), name="a.jsonl", identity="aaaa")
    shell.add(
        message(0xAB000001, None, "user", "one"),
        message(0xAB000002, 0xAB000001, "assistant", "two"),
        message(0xCD000003, 0xAB000002, "user", "three"),
    )

    assert "three" in shell("session", "show", "cd", expect=0).out
    assert "other words" in shell("session", "show", "aaaa:00000001", expect=0).out
    ambiguous = shell("session", "show", "ab", "--json", expect=1)
    assert json.loads(ambiguous.err)["error"]["code"] == "entry-ambiguous"
    assert "ab000001" in ambiguous.err
    shell("session", "show", "ffffffff", expect=1)


def test_tree_draws_branches_turns_and_the_leaf(shell: Shell) -> None:
    """The tree shows turns, where branches part, labels, and the leaf; as JSON every entry."""
    shell.add(
        *talk(4), message(20, 2, "user", "a side branch"), entry(6, 4, "label", targetId="00000001", label="start")
    )

    told = shell("session", "tree", expect=0).out
    rows = shell("session", "tree", "--json", expect=0).json

    assert "turn 1" in told
    assert "[start]" in told
    assert told.count("── branch\n") == 2
    assert "← leaf" in told
    assert [row["onBranch"] for row in rows["entries"]] == [True, True, True, True, False, True]
    assert rows["leafId"] == "00000006"


def test_a_deep_session_is_drawn_flat(shell: Shell) -> None:
    """Twenty thousand entries in one chain neither overflow anything nor march to the right."""
    shell.add(*talk(20_000))

    told = shell("session", "tree", expect=0).out

    assert max(map(len, told.splitlines())) < 250


def test_verify_names_damage_and_what_is_harmless(shell: Shell) -> None:
    """`session verify` lists line and bytes of what is wrong; damage ends with 1, a torn tail does not."""
    good = log(header(str(shell.project)), *talk(3))
    torn = shell.write("torn.jsonl", good + b'{"type":"mess')
    bad = shell.write(
        "bad.jsonl", log(header(str(shell.project)), *talk(1)) + b"garbage\n" + log(*talk(2, start=2, parent=1))
    )

    harmless = shell("session", "verify", "--session", torn, "--json", expect=0).json
    damaged = shell("session", "verify", "--session", bad, "--json", expect=1).json

    assert (harmless["sound"], harmless["counts"]) == (True, {"torn-tail": 1})
    assert harmless["findings"][0]["offset"] == len(good)
    assert (damaged["sound"], damaged["entries"]) == (False, 3)
    assert [(row["kind"], row["line"], row["detail"]) for row in damaged["findings"]] == [
        ("quarantined", 3, "invalid-json")
    ]


def test_context_is_redacted_unless_the_owner_reveals(shell: Shell) -> None:
    """The context comes without secrets, also those that only a field's name gives away; --reveal is Pi's own."""
    call = {"type": "toolCall", "id": "c1", "name": "login", "arguments": {"password": "Xk92-mQ7w-Lp41"}}
    shell.add(message(1, None, "user", f"my token is {SECRET} ok"), message(2, 1, "assistant", "", content=[call]))

    piped = shell("session", "context", "--json", expect=0)
    shell.owner_scripts()
    revealed = shell("session", "context", "--reveal", "--json", expect=0)

    assert SECRET not in piped.out
    assert "Xk92-mQ7w-Lp41" not in piped.out
    assert SECRET in revealed.out
    assert "Xk92-mQ7w-Lp41" in revealed.out
    assert piped.json["leafId"] == "00000002"


def test_context_leaves_out_what_the_audience_may_not_see(shell: Shell) -> None:
    """A classified message keeps its place in the context and loses its text."""
    shell.add(
        message(1, None, "user", "[context:sensitive]zebra[/context:sensitive]"), message(2, 1, "assistant", "fine")
    )

    messages = shell("session", "context", "--json", expect=0).json["messages"]

    assert [each["role"] for each in messages] == ["user", "assistant"]
    assert "zebra" not in json.dumps(messages)
    assert "fine" in json.dumps(messages)


@pytest.mark.parametrize(
    "command", [("session", "context"), ("session", "show", "1"), ("session", "tree"), ("session", "verify")]
)
def test_a_file_that_is_no_session_is_refused_in_words(shell: Shell, command: tuple[str, ...]) -> None:
    """A missing file, a folder, an empty file and other text end with 1 and a code; the file keeps every byte."""
    cases: list[tuple[Path, set[str]]] = [
        (shell.sessions / "nope.jsonl", {"file-missing"}),
        (shell.sessions, {"not-a-file"}),
        (shell.write("empty.jsonl", b""), {"not-a-session"}),
        (shell.write("text.jsonl", b"just text\nmore\n"), {"not-a-session"}),
    ]
    os.mkfifo(shell.sessions / "pipe.jsonl")
    cases.append((shell.sessions / "pipe.jsonl", {"not-a-file"}))

    for path, codes in cases:
        said = shell(*command, "--session", path, "--json", expect=1)
        code = json.loads(said.out)["code"] if said.out else json.loads(said.err)["error"]["code"]
        assert code in codes, path


def test_a_session_is_named_by_file_or_by_the_start_of_its_id(shell: Shell) -> None:
    """`--session` takes a path or a beginning of an id; several that start so are named, and refused."""
    shell.add(*talk(["one"]), name="a.jsonl", identity="019a-aaaa")
    shell.add(*talk(["two"]), name="b.jsonl", identity="019a-bbbb")

    assert shell.search("two", "--session", "019a-b")["hits"]
    said = shell("session", "tree", "--session", "019a", "--json", expect=1)
    assert json.loads(said.err)["error"]["code"] == "session-ambiguous"
    assert "019a-aaaa" in said.err
    assert shell.search("x", "--session", "nope", expect=1)["code"] == "session-not-found"


def test_old_versions_are_read_and_never_rewritten(shell: Shell) -> None:
    """Version 1 has no ids: its entries get fixed ones, the same in every command, and the file keeps its bytes."""
    first: Json = {"type": "session", "id": "old", "timestamp": stamp(0), "cwd": str(shell.project)}
    rows = [
        {"type": "message", "timestamp": stamp(n), "message": {"role": "user", "content": f"zebra {n}"}} for n in (1, 2)
    ]
    path = shell.write("v1.jsonl", b"".join(line(each) for each in [first, *rows]))

    found = shell.found("zebra", "--session", path)

    assert sorted(found) == ["n0000001", "n0000002"]
    assert "zebra 2" in shell("session", "show", "n0000002", "--session", path, expect=0).out
