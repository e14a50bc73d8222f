"""The gates: each refusal has its code, comes before anything is made, and leaves the source as it was."""

import os
from pathlib import Path
from typing import Any

import pytest
from logs import Value, call, entry, header, line, lines, message, talk
from rebasing import Bench, append, calls, result, say
from session_logs import NAMES, genuine

from foundation.errors import CODES, ContextError
from foundation.settings import defaults
from rebase.gates import CutExchangeError, Standing, check_standing
from rebase.plan import Plan


def refused(bench: Bench, file: str, **asked: Any) -> ContextError:
    before = Path(file).read_bytes(), sorted(os.listdir(bench.folder))
    with pytest.raises(ContextError) as found:
        bench.plan(file, **asked)
    assert (Path(file).read_bytes(), sorted(os.listdir(bench.folder))) == before
    assert found.value.hint
    return found.value


def about(number: int) -> str:
    return f"turn {number}"


TALK = talk(4, about)
BAD_LINES: dict[str, tuple[str, list[bytes]]] = {
    "version 1": ("unsupported-source-version", [line(header(version=1))]),
    "version 2": ("unsupported-source-version", [line(header(version=2)), b"garbage"]),
    "version 99": ("unsupported-source-version", [line(header(version=99))]),
    "no header": ("not-a-session", [line(TALK[0])]),
    "no folder": ("source-without-folder", [line(header(cwd="")), line(TALK[0])]),
    "garbage": ("source-damaged", [line(header()), line(TALK[0]), b"{garbage"]),
    "a number": ("source-damaged", [line(header()), b"5"]),
    "no id": ("source-damaged", [line(header()), line({"type": "message"})]),
    "conflicting ids": ("source-id-conflict", [line(header()), line(TALK[0]), line(message(1, None, "other"))]),
    "header only": ("source-empty", [line(header())]),
    "nothing said": ("source-empty", [line(header()), line(entry("session_info", 1, None, name="x"))]),
    "unknown parent": ("source-path-incomplete", [line(header()), line(message(2, 77, "x"))]),
    "cycle": ("entry-cycle", [line(header()), line(message(1, 2, "x")), line(message(2, 1, "x"))]),
    "own parent": ("entry-cycle", [line(header()), line(message(1, 1, "x"))]),
    "no message": ("entry-broken", [line(header()), line(entry("message", 1, None))]),
    "kept entry elsewhere": ("kept-entry-off-path", [
        line(header()), *map(line, TALK), line(entry("compaction", 9, 2, summary="s", firstKeptEntryId="00000003", tokensBefore=1)),
    ]),
    "a handoff alone": ("lineage-unverified", [line(header()), line(entry("custom_message", 1, None, customType="context-rebase-handoff-v1", content="x", display=False))]),
    "a checkpoint alone": ("lineage-unverified", [line(header()), line(entry("custom", 1, None, customType="context-rebase-checkpoint-v1", data={})), line(message(2, 1, "x"))]),
    "a link alone": ("lineage-unverified", [line(header()), line(entry("custom", 1, None, customType="context-rebase-link-v1", data={})), line(message(2, 1, "x"))]),
    "an open call": ("tool-exchange-open", [line(header()), line(TALK[0]), line(call(2, 1, "bash"))]),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_LINES)
def test_a_bad_source_is_refused_by_its_code(bench: Bench, case: str) -> None:
    """Each kind of bad source has a code with a remedy, and not a byte of it changes."""
    code, written = BAD_LINES[case]
    assert refused(bench, bench.write(b"".join(raw + b"\n" for raw in written))).code == code


def test_a_line_that_is_still_being_written_is_waited_for(bench: Bench) -> None:
    """A torn tail is refused, garbage or not; the first bytes up to the last newline can be planned by their size."""
    data = lines(header(), *TALK)
    for tail in (b'{"type":"mess', line(message(9, 4, "x"))):
        file = bench.write(data + tail)
        assert refused(bench, file).code == "source-torn-tail"
        assert bench.plan(file, size=len(data)).source.size == len(data)


def test_the_version_is_refused_before_anything_else(bench: Bench) -> None:
    """A file of an older version is refused for that, whatever else is wrong with it."""
    error = refused(bench, bench.write(line(header(version=1)) + b"\n{garbage\n{torn"))
    assert error.code == "unsupported-source-version"


@pytest.mark.parametrize("name", NAMES)
def test_genuine_sessions_are_planned_or_refused_for_what_is_wrong(bench: Bench, name: str) -> None:
    """Every session that Pi wrote itself is planned; the damaged ones have their codes."""
    expected = {
        "13-error-null-dangling": "tool-exchange-open",
        "20-v1-raw": "unsupported-source-version",
        "30-truncated-tail": "source-torn-tail",
        "32-blank-and-garbage": "source-damaged",
        "35-duplicate-ids": "source-id-conflict",
        "40-header-only": "source-empty",
        "44-non-object-lines": "source-damaged",
    }
    try:
        found: Plan | str = bench.plan(genuine(name)[0])
    except ContextError as error:
        found = error.code
    assert (found if isinstance(found, str) else None) == expected.get(name)


def test_no_such_leaf(bench: Bench) -> None:
    """A leaf that the session does not have is an error of its own."""
    assert refused(bench, bench.log(*TALK), leaf="zzz").code == "entry-not-found"


# --- tool exchanges -----------------------------------------------------------------------------------------------


def exchange(bench: Bench, *entries: Value, leaf: str | None = None) -> CutExchangeError:
    with pytest.raises(CutExchangeError) as found:
        bench.plan(bench.log(*entries), leaf=leaf)
    return found.value


def test_an_open_call_names_the_last_whole_entry(bench: Bench) -> None:
    """One of two parallel calls without a result is refused, and the entry before the call can be rebased."""
    log = [message(1, None, "do"), calls(2, 1, "bash", "read"), result(3, 2, "c2-0", "ok")]
    error = exchange(bench, *log)
    assert (error.leaf, error.entries) == ("00000001", ("00000002",))
    assert error.diagnostics == (1, 0)
    assert f"--leaf {error.leaf}" in error.hint
    assert bench.plan(bench.path("source.jsonl"), leaf=error.leaf).handoff


def test_a_result_whose_call_was_compacted_away_is_refused(bench: Bench) -> None:
    """A result in the kept range does not belong to a call in the archive; before the compaction all is whole."""
    log = [
        message(1, None, "do"), calls(2, 1, "bash"), result(3, 2, "c2-0", "ok"), message(4, 3, "done", "assistant"),
        entry("compaction", 5, 4, summary="s", firstKeptEntryId="00000003", tokensBefore=9), message(6, 5, "go on"),
    ]  # fmt: skip
    error = exchange(bench, *log)
    assert (error.leaf, error.diagnostics) == ("00000004", (1, 0))
    assert bench.plan(bench.path("source.jsonl"), leaf=error.leaf).handoff


def test_what_was_cut_in_the_archive_does_not_block(bench: Bench) -> None:
    """An exchange that a compaction left behind incomplete is counted, and stays where it is."""
    log = [
        message(1, None, "do"), calls(2, 1, "bash"), message(3, 2, "never mind"),
        entry("compaction", 4, 3, summary="s", firstKeptEntryId="00000003", tokensBefore=9), message(5, 4, "go on"),
    ]  # fmt: skip
    plan = bench.plan(bench.log(*log))
    assert plan.diagnostics == (0, 1)


@pytest.mark.parametrize("reason", ["aborted", "error"])
def test_a_stopped_answer_does_not_block(bench: Bench, reason: str) -> None:
    """Esc during a tool call leaves calls without results: they are shown as interrupted and counted."""
    stopped = calls(2, 1, "bash", "read", text="Let me see.", stopReason=reason, errorMessage="lost connection")
    plan = bench.plan(bench.log(message(1, None, "do"), stopped, message(3, 2, "again")))
    assert plan.interrupted == 2
    assert plan.handoff.count("(interrupted, without a result)") == 2
    assert ("lost connection" in plan.handoff) == (reason == "error")


def test_a_stopped_call_with_a_result_is_no_interruption(bench: Bench) -> None:
    """Where the result of one of the calls did come, only the other one was interrupted."""
    log = [message(1, None, "do"), calls(2, 1, "bash", "read", stopReason="aborted"), result(3, 2, "c2-0", "came")]
    plan = bench.plan(bench.log(*log))
    assert plan.interrupted == 1
    assert "call read (interrupted" in plan.handoff


def test_an_id_that_is_used_twice_hides_nothing(bench: Bench) -> None:
    """Results bind to the latest call before them: the first call with the same id is still open."""
    again = calls(4, 3, "bash")
    again["message"]["content"][0]["id"] = "c2-0"
    error = exchange(
        bench, message(1, None, "do"), calls(2, 1, "bash"), message(3, 2, "x"), again, result(5, 4, "c2-0", "ok")
    )
    assert (error.leaf, error.entries) == ("00000001", ("00000002",))


def test_an_edit_that_takes_an_open_call_away_makes_the_context_whole(bench: Bench) -> None:
    """Exchanges are judged on what Pi sends: a call that a context edit took out needs no result."""
    log = [
        message(1, None, "do"),
        calls(2, 1, "bash"),
        entry("context_edit", 3, 2, targetId="00000002", replacement=None),
    ]
    file = bench.log(*log, message(4, 3, "go on"))
    assert bench.plan(file).diagnostics == (0, 1)
    assert refused(bench, file, leaf="00000002").code == "tool-exchange-open"


def test_a_result_without_any_call_is_refused(bench: Bench) -> None:
    """An orphan result is an exchange without a beginning."""
    error = exchange(bench, message(1, None, "do"), result(2, 1, "nobody", "x"))
    assert (error.leaf, error.entries) == ("00000001", ("00000002",))


def test_there_may_be_no_whole_entry_at_all(bench: Bench) -> None:
    """Where the very first message is cut, no other leaf is named."""
    assert exchange(bench, result(1, None, "nobody", "x")).leaf is None


# --- before the file ----------------------------------------------------------------------------------------------


def standing(**changes: Any) -> Standing:
    how: dict[str, Any] = {
        "values": defaults(),
        "trusted": True,
        "owner": True,
        "file": "f",
        "idle": True,
        "modified": None,
        "now": 0,
    }
    return Standing(**(how | changes))


OFF = {"sessionRebase.enabled": False, "historyTools.enabled": False}
WORST: list[tuple[str, dict[str, Any]]] = [
    ("rebase-disabled", {"values": defaults() | OFF, "trusted": False}),
    ("history-disabled", {"values": defaults() | {"historyTools.enabled": False}, "trusted": False, "owner": False}),
    ("project-not-trusted", {"trusted": False, "owner": False, "file": None}),
    ("owner-act-required", {"owner": False, "file": None}),
    ("session-unsaved", {"file": None, "idle": False}),
    ("session-busy", {"idle": False}),
]


@pytest.mark.parametrize(("code", "how"), WORST)
def test_gates_stand_in_their_order(code: str, how: dict[str, Any]) -> None:
    """Of several gates that do not hold, the first one of the contract answers."""
    with pytest.raises(ContextError) as found:
        check_standing(standing(**how))
    assert found.value.code == code
    assert CODES[code].hint


def test_a_source_that_changed_just_now_is_warned_of() -> None:
    """Within ten seconds of a change somebody may still be writing; later nobody is warned."""
    assert check_standing(standing(modified=1000, now=10_999)) == ["source-recently-changed"]
    assert check_standing(standing(modified=1000, now=11_000)) == []
    assert check_standing(standing()) == []


def test_what_an_old_pi_wrote_twice_is_no_conflict(bench: Bench) -> None:
    """A target that Pi 0.73 wrote anew, header and all, is planned as if every line stood once."""
    _, target = bench.rebased(bench.log(*TALK))
    once = Path(target).read_bytes()
    say(target, 0x50, "go on")
    plan = bench.plan(target)
    tail = Path(target).read_bytes()[len(once) :]
    Path(target).write_bytes(once + once + tail)
    again = bench.plan(target)
    assert (again.handoff, again.entries) == (plan.handoff, plan.entries)
    append(target, message(0x51, 0x50, "and on"))
    assert bench.plan(target).handoff
