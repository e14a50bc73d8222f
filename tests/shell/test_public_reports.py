"""What users of session tools reported, each held as a kind. The number in a docstring names the report."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
from pi_logs import entry, header, line, log, message, talk
from shelled import Shell, index_bytes


def update(shell: Shell) -> dict[str, object]:
    """Update the index; give the counters."""
    answer: dict[str, object] = shell("index", "update", "--json", expect=0).json
    return answer


def zebras(session: int, length: int, number: int) -> str:
    """Write a long text about zebras, different for every entry of every session."""
    return f"zebra {session} {number} " + " ".join(f"word{word * number}" for word in range(length))


@pytest.mark.parametrize("cut", [1, 20, 80])
def test_a_line_cut_by_power_loss_hides_nothing(shell: Shell, cut: int) -> None:
    """A1: complete records are indexed, the tail is reported; once completed it is indexed exactly once."""
    whole = log(header(str(shell.project)), *talk(["first zebra", "second zebra"]))
    path = shell.write("s1.jsonl", whole[:-cut])

    assert shell.found("zebra") == ["00000001"]
    assert update(shell)["quarantined"] == []
    assert shell("session", "verify", "--json", expect=0).json["counts"] == {"torn-tail": 1}
    path.write_bytes(whole)
    shell.written.clear()
    assert sorted(shell.found("zebra")) == ["00000001", "00000002"]
    assert update(shell)["entriesAdded"] == 0


def test_the_first_malformed_line_does_not_end_the_reading(shell: Shell) -> None:
    """A2: line 40 of 100 is garbage: 99 records are found, and the answer says that a line was skipped."""
    lines = [line(each) for each in [header(str(shell.project)), *talk(100, text=lambda number: f"zebra{number}")]]
    lines[40] = b'{"type":"message","id":"broken\n'
    shell.write("s1.jsonl", b"".join(lines))

    assert shell.found("zebra100") == ["00000064"]
    assert shell.found("zebra39", "--scope", "current-session") == ["00000027"]
    assert "lines-quarantined" in shell.search("zebra1")["warnings"]
    assert shell.search("zebra1")["status"] == "partial"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("chat-send", "call chat-send now"),
        ("don't use agents", "please don't use agents here"),
        ('"--error-on-warnings"', "mkdocs build --error-on-warnings --strict"),
        ("grammar::fa", "see grammar::fa for it"),
        ("38.101", "as 38.101 says"),
        ("-term", "with -term appended"),
        ("POL-358", "fixes POL-358"),
        ("C++", "written in C++ then"),
        (".env", "it lies in .env there"),
        ("7z", "packed with 7z"),
        ("DB", "the DB is down"),
        ("git", "use git for it"),
        ("悬空", "步2 重跑gen-itgc后50条悬空引用清零"),
        ("itgc", "步2 重跑gen-itgc后50条悬空引用清零"),
        ("gen", "步2 重跑gen-itgc后50条悬空引用清零"),
        ("索引", "数据库索引损坏"),
        ("索", "数据库索引损坏"),
        ("テスト", "新しいテストを書く"),
        ("검색", "세션 검색이 안 됩니다"),
        ("ทดสอบ", "การทดสอบระบบ"),
        ("naive cafe", "a naïve café"),
    ],
)
def test_any_kind_of_term_is_found(shell: Shell, query: str, text: str) -> None:
    """A3–A8, A10, A11: dashes, dots, colons, apostrophes, quotes, tickets, CJK: one hit, never an error or a silent zero."""
    shell.add(*talk([text, "something else entirely"]))

    answer = shell.search(query)

    assert [hit["entryId"] for hit in answer["hits"]] == ["00000001"]
    assert answer["status"] == "complete"


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "*",
        "(",
        ")",
        "NEAR(",
        "AND",
        "OR",
        "NOT",
        "a AND",
        "^x",
        "{a b}",
        "text: x",
        "+",
        "\\",
        "'",
        "a\x00b",
        "🚀",
        '""',
    ],
)
def test_no_query_is_an_error(shell: Shell, query: str) -> None:
    """A9: operators and lone quotes are text; an empty query is a code."""
    shell.add(*talk(["plain words"]))

    assert shell.search(query)["status"] in ("complete", "partial")
    assert shell.search("  ", expect=1)["code"] == "invalid-query"


def test_a_query_without_any_term_says_so(shell: Shell) -> None:
    """A11: what cannot be looked up is reported, not answered by nothing."""
    shell.add(*talk(["plain words"]))

    answer = shell.search("?!… ---")

    assert (answer["status"], answer["code"]) == ("partial", "query-has-no-searchable-terms")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_a_huge_session_is_streamed(shell: Shell) -> None:
    """A12, A38: a session of 600 MB is indexed within 220 MB of memory."""
    path = shell.sessions / "huge.jsonl"
    filler = "lorem ipsum dolor sit amet " * 4000
    with path.open("wb") as file:
        file.write(line(header(str(shell.project), "huge")))
        for number in range(1, 5600):
            file.write(line(message(number, number - 1 or None, "user", f"{filler} n{number}")))
    probe = (  # the peak of the process itself: `getrusage` would also tell its parent's
        "import sys\nfrom pi_context.main import main\nstatus = main(['index', 'update', '-q'])\n"
        "peak = [line for line in open('/proc/self/status') if line.startswith('VmHWM')]\n"
        "sys.stderr.write(str(int(peak[0].split()[1]) // 1024))\nsys.exit(status)"
    )

    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, encoding="utf-8", check=True)

    assert path.stat().st_size > 600_000_000
    assert int(done.stderr.split()[-1]) <= 220


def test_a_moved_session_is_found_at_its_new_place_only(shell: Shell) -> None:
    """A18, A19: after a deletion or a move, hits carry existing paths only."""
    shell.settings({"historyTools": {"allowProjectScope": True}})
    path = shell.add(*talk(["a zebra"]))
    update(shell)
    other = shell.agent_dir / "sessions" / "--elsewhere--"
    other.mkdir()
    shutil.move(path, other / "moved.jsonl")

    assert [hit["sessionId"] for hit in shell.search("zebra", "--scope", "project")["hits"]] == ["s1"]
    assert update(shell)["sessionsRemoved"] == 1
    rows = shell("session", "list", "--json", expect=0).json["sessions"]
    assert [row["file"] for row in rows] == [str(other / "moved.jsonl")]


def test_reading_a_vanished_source_has_its_own_code(shell: Shell) -> None:
    """A20: the reference of a deleted session answers `source-unavailable`."""
    shell.settings({"historyTools": {"allowProjectScope": True}})
    gone = shell.add(*talk(["a zebra"]), name="gone.jsonl", identity="gone")
    own = shell.add(*talk(["own"]), name="own.jsonl", identity="own")
    hit = shell.search("zebra", "--scope", "project", "--session", own)["hits"][0]
    gone.unlink()

    assert (
        shell("history", "read", hit["sourceRef"], "--session", own, "--json", expect=1).json["code"]
        == "source-unavailable"
    )


def test_a_writer_that_is_held_up_waits(shell: Shell) -> None:
    """A21: another process holds the write lock for two seconds: the update waits and succeeds."""
    shell.add(*talk(["a zebra"]))
    update(shell)
    pointer = json.loads((shell.agent_dir / "pi-context" / "index.json").read_text())
    held = sqlite3.connect(
        shell.agent_dir / "pi-context" / pointer["files"][0], isolation_level=None, check_same_thread=False
    )
    held.execute("begin immediate")
    threading.Timer(2, lambda: held.execute("rollback")).start()
    shell.add(*talk(["an okapi"]), name="t.jsonl", identity="t")

    assert update(shell)["entriesAdded"] == 1


def test_two_updates_at_once_and_a_search_in_between(shell: Shell) -> None:
    """A22, A23: two indexers end in one complete index, and a search answers meanwhile."""
    for number in range(40):
        shell.add(
            *talk(60, text=partial(zebras, number, 60)),
            name=f"s{number}.jsonl",
            identity=f"s{number}",
        )
    command = [sys.executable, "-m", "pi_context", "index", "update", "--json"]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") for _ in range(2)
    ]
    assert shell.search("zebra")["hits"]
    ended = [process.communicate() for process in both]

    assert [process.returncode for process in both] == [0, 0], ended
    assert update(shell)["filesRead"] == 0
    assert shell("history", "status", "--json", expect=0, terminal=True).json["index"]["entries"] == 40 * 60


def test_listing_thousands_of_sessions_reads_no_log(shell: Shell) -> None:
    """A24, A25: once indexed, a list and an update of 1,000 sessions open no session file."""
    for number in range(1000):
        shell.write(f"s{number}.jsonl", log(header(str(shell.project), f"s{number}"), *talk(1)))
    update(shell)
    opened: list[str] = []

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event == "open" and str(arguments[0]).endswith(".jsonl"):
            opened.append(str(arguments[0]))

    watching = True
    sys.addaudithook(watch)
    rows = shell("session", "list", "--json", "--session-dir", str(shell.sessions), expect=0).json["sessions"]
    again = update(shell)
    watching = False

    assert len(rows) == 1000
    assert (again["filesSeen"], again["bytesRead"]) == (1000, 0)
    assert len(opened) <= 2  # the newest one, to learn whose it is


def test_an_image_costs_next_to_nothing(shell: Shell) -> None:
    """A26: five megabytes of base64 grow the index by less than 5 kB, and show up as a note."""
    shell.add(*talk(["before"]))
    update(shell)
    shell("index", "rebuild", expect=0)
    before = len(index_bytes(shell))
    image = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo" + "A" * 5_000_000}
    shell.add(*talk(["before"]), message(2, 1, "user", "", content=[{"type": "text", "text": "look"}, image]))
    shell("index", "rebuild", expect=0)

    assert len(index_bytes(shell)) - before < 5000
    assert "[image/png 3.7 MB]" in shell("session", "show", "00000002", expect=0).out


def test_projects_whose_folders_collide_stay_apart(shell: Shell) -> None:
    """A28, A29: two working folders that share a session folder are told apart by their headers."""
    shell.settings({"historyTools": {"allowProjectScope": True}})
    shell.add(*talk(["own zebra"]))
    shell.add(*talk(["foreign zebra"]), name="f.jsonl", identity="f", cwd=str(shell.home / "wo-rk"))

    assert [hit["sessionId"] for hit in shell.search("zebra", "--scope", "project", "--session", "s1")["hits"]] == [
        "s1"
    ]


def test_a_strange_first_line_or_type_loses_nothing(shell: Shell) -> None:
    """A30, A31: a session whose first record is of an unknown type is found; unknown entries are kept and counted."""
    rows = [
        {"type": "pr-link", "url": "x"},
        header(str(shell.project)),
        *talk(["a zebra"]),
        entry(2, 1, "future_thing", data=1),
        message(3, 2, "user", "an okapi"),
    ]
    shell.write("s1.jsonl", b"".join(map(line, rows)))

    assert shell.found("zebra") == ["00000001"]
    assert shell.found("okapi") == ["00000003"]
    assert shell("session", "list", "--json", expect=0).json["sessions"][0]["entries"] == 4


def test_the_best_hit_is_trimmed_and_never_skipped(shell: Shell) -> None:
    """A33, A34: the longest hit fits every budget as an excerpt; the whole serialised answer stays within it."""
    shell.add(*talk(["zebra quagga " + "lorem ipsum dolor " * 600, *["zebra " + "lorem " * 500] * 3]))

    for budget in (256, 900, 3000):
        said = shell("history", "search", "zebra quagga", "--json", "--max-output-tokens", budget, expect=0)
        assert said.json["hits"][0]["entryId"] == "00000001"
        assert -(-len(said.out.strip().encode("utf-16-le")) // 2 // 4) + 96 <= budget


def test_a_needle_deep_in_another_project_is_found(shell: Shell) -> None:
    """A35, A36: `everywhere` finds turn 57 of an unnamed session of another project, and names the project."""
    shell.owner_scripts()
    shell.add(*talk(["own"]))
    shell.add(
        *talk(100, text=lambda number: "the needle" if number == 57 else f"hay {number}"),
        name="f.jsonl",
        identity="f",
        cwd="/somewhere/else",
    )

    hit = shell.search("needle", "--scope", "everywhere", "--session", "s1")["hits"][0]

    assert (hit["entryId"], hit["project"], hit["relation"]) == ("00000039", "/somewhere/else", "sibling-session")


@pytest.mark.slow
def test_a_killed_build_is_not_called_healthy(shell: Shell) -> None:
    """A37: after kill −9 in the middle the status says how much is missing, and the next update completes it."""
    for number in range(30):
        shell.add(
            *talk(400, text=partial(zebras, number, 400)),
            name=f"s{number}.jsonl",
            identity=f"s{number}",
        )
    process = subprocess.Popen([sys.executable, "-m", "pi_context", "index", "update", "-q"], stdout=subprocess.DEVNULL)
    folder = shell.agent_dir / "pi-context"
    for _ in range(2000):
        if any(path.stat().st_size > 2_000_000 for path in folder.glob("index-*")):
            break
        time.sleep(0.005)
    process.kill()
    process.wait()

    state = shell("history", "status", "--scope", "everywhere", "--json", expect=0, terminal=True).json
    assert state["indexCurrent"] is False
    assert state["index"]["filesBehind"] > 0
    update(shell)
    state = shell("history", "status", "--scope", "everywhere", "--json", expect=0, terminal=True).json
    assert (state["indexCurrent"], state["index"]["entries"]) == (True, 30 * 400)


def test_nul_padding_after_a_crash_is_a_tail(shell: Shell) -> None:
    """A39: trailing NULs hide nothing; the tail is reported."""
    shell.write("s1.jsonl", log(header(str(shell.project)), *talk(["a zebra"])) + b"\0" * 1728)

    assert shell.found("zebra") == ["00000001"]
    assert shell("session", "verify", "--json", expect=0).json["counts"] == {"torn-tail": 1}
