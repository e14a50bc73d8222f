"""What the dry run of a rebase tells: figures, ways out, the handoff, and never a secret."""

import os
import shlex
from collections.abc import Iterator

import pytest
from dry_runs import SECRET, Dry, plan_of
from pi_logs import Json, entry, header, line, log, message, talk
from rebasing import calls, result
from shelled import Shell

from pi_context import command_line
from privacy.audiences import OMITTED
from rebase.framing import parse

FIELDS = {
    "schema", "status", "planId", "sourceSessionId", "sourceEntries", "sourceBytes", "sourceSha256", "sourceLeaf",
    "fitted", "checkpointTokens", "checkpointTargetTokens", "preservedPins", "preservedMemories", "leftOut", "gaveWay",
    "interrupted", "redactions", "breakdown", "classification", "audiences", "lineageDepth", "lineage", "ways",
    "warnings", "toolExchangeDiagnostics", "nextCommand", "earlier",
}  # fmt: skip


def test_a_preview_has_all_fields_and_their_figures(shell: Shell, dry: Dry) -> None:
    """A program gets the plan's figures, each true of the session, and the same plan each time."""
    file = shell.add(
        *talk(["do it", "done"]),
        calls(3, 2, "bash", stopReason="aborted"),
        message(4, 3, "user", "[context:sensitive]of Mr. Tanaka[/context:sensitive]"),
        entry(5, 4, "model_change", provider="cloud", modelId="m-1"),
    )
    answer = dry.json("--session", file)

    assert set(answer) == FIELDS
    assert (answer["status"], answer["sourceSessionId"], answer["sourceLeaf"]) == ("preview", "s1", "00000005")
    assert (answer["sourceEntries"], answer["sourceBytes"]) == (5, file.stat().st_size)
    assert 0 < answer["checkpointTokens"] <= answer["checkpointTargetTokens"] == 8000
    assert [row["entryId"] for row in answer["breakdown"]] == ["00000001", "00000002", "00000003", "00000004"]
    assert answer["leftOut"]["usage"]["count"] == 1
    assert (answer["interrupted"], answer["classification"]) == (1, "sensitive")
    assert {seen["audience"]: seen["omitted"] for seen in answer["audiences"]} == {"local": 0, "": 1, "cloud": 1}
    assert (answer["preservedPins"], answer["preservedMemories"], answer["lineageDepth"]) == (0, 0, 1)
    assert answer["toolExchangeDiagnostics"] == {"active": 0, "historical": 0}
    assert answer["planId"] == plan_of(file).plan_id == dry.json("--session", file)["planId"]


def test_a_person_reads_the_important_first(shell: Shell, dry: Dry) -> None:
    """The first line says whether it fits; the largest messages, the audiences and the next command follow."""
    shell.add(*talk(["short", "long " * 400, "short too"]), entry(4, 3, "session_info", name="my ledger"))
    said = dry(terminal=True).out.splitlines()

    assert said[0].startswith("It fits: the handoff takes ")
    assert "of 8,000" in said[0]
    assert any("my ledger" in row for row in said)
    first = next(at for at, row in enumerate(said) if row.startswith("largest"))
    assert said[first + 1].startswith("00000002")
    assert any(row.startswith("you ") for row in said)


def test_the_next_command_can_be_typed_as_it_stands(shell: Shell, dry: Dry) -> None:
    """It names the same session, leaf, folders and plan, and its words fit."""
    file = shell.add(*talk(4), name="it's a session.jsonl")
    answer = dry.json("--session", file, "--leaf", "00000003", "--agent-dir", shell.agent_dir, "--fit", terminal=True)
    words = shlex.split(answer["nextCommand"])
    assert words.pop(0) == "pi-context"
    read = command_line.read(words)

    assert not isinstance(read, int)
    given = {name: value for name, value in read[1].items() if value}
    assert given == {
        "session": str(file), "leaf": "00000003", "agent_dir": str(shell.agent_dir), "fit": True,
        "confirm_plan": answer["planId"],
    }  # fmt: skip
    assert answer["sourceFile"] == str(file)


def test_where_files_lie_is_for_the_owner(shell: Shell, dry: Dry) -> None:
    """In a pipe no path is told that was not given."""
    shell.add(*talk(4))

    assert str(shell.home) not in dry("--json").out + dry("-v").out
    assert "sourceFile" in dry.json(terminal=True)


def test_the_leaf_decides_what_is_quoted(shell: Shell, dry: Dry) -> None:
    """An earlier leaf plans up to there; one that is not there is refused."""
    shell.add(*talk(6))

    assert dry.json("--leaf", "00000004")["sourceLeaf"] == "00000004"
    assert dry.json("--leaf", "77", expect=1)["code"] == "entry-not-found"


def test_a_session_that_changed_just_now_is_a_warning(shell: Shell, dry: Dry) -> None:
    """Pi may still be at work in it; a session at rest is none."""
    file = shell.add(*talk(4))
    assert dry.json()["warnings"] == ["source-recently-changed"]
    assert "still be at work" in dry().out

    os.utime(file, (1_700_000_000, 1_700_000_000))
    shell.written.clear()
    assert dry.json()["warnings"] == []


def test_a_folder_that_may_not_be_written_is_a_warning(shell: Shell, dry: Dry, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is told all the same, with what would be in the way."""
    shell.add(*talk(4))
    monkeypatch.setattr("os.access", lambda *_args, **_more: False)

    assert "folder-not-writable" in dry.json()["warnings"]
    assert "may not be written" in dry().out


def test_cut_exchanges_in_the_archive_are_counted(shell: Shell, dry: Dry) -> None:
    """What a compaction left behind incomplete does not block, and is told as a count."""
    shell.add(
        message(1, None, "user", "do"), calls(2, 1, "bash"), message(3, 2, "user", "never mind"),
        entry(4, 3, "compaction", summary="s", firstKeptEntryId="00000003", tokensBefore=9),
        message(5, 4, "user", "go on"),
    )  # fmt: skip

    assert dry.json()["toolExchangeDiagnostics"] == {"active": 0, "historical": 1}
    assert "1 cut ones stay in the archive" in dry().out


# --- over budget ---------------------------------------------------------------------------------------------------


def grown() -> Iterator[Json]:
    """Give a conversation far over a small budget, most of it results."""
    yield message(1, None, "user", "begin")
    for number in range(2, 60, 3):
        yield calls(number, number - 1, "bash")
        yield result(number + 1, number, f"c{number}-0", "line\n" * 700)
        yield message(number + 2, number + 1, "user", f"and step {number}")


def test_what_does_not_fit_is_refused_with_the_ways_out(shell: Shell, dry: Dry) -> None:
    """The answer has its code, all figures, and the ways with theirs; the status is that of a refusal."""
    shell.add(*grown())
    answer = dry.json(expect=1)

    assert (answer["status"], answer["code"]) == ("unavailable", "checkpoint-over-budget")
    assert answer["checkpointTokens"] > answer["checkpointTargetTokens"]
    assert "nextCommand" not in answer
    ways = {way["kind"]: way for way in answer["ways"]}
    assert set(ways) == {"compact", "budget", "fit"}
    assert ways["budget"]["budget"] == answer["checkpointTokens"]
    assert ways["fit"]["tokens"] <= 8000

    said = dry(expect=1).out
    assert "It does not fit" in said
    assert f"config set sessionRebase.checkpointTargetTokens {answer['checkpointTokens']} --global" in said
    assert "--fit" in said
    assert "[checkpoint-over-budget]" in said


def test_each_way_out_leads_out(shell: Shell, dry: Dry) -> None:
    """The larger budget and --fit, done as they are told, give a plan of exactly the tokens that were told."""
    shell.add(*grown())
    ways = {way["kind"]: way for way in dry.json(expect=1)["ways"]}

    fitted = dry.json("--fit")
    assert (fitted["status"], fitted["checkpointTokens"]) == ("preview", ways["fit"]["tokens"])
    assert fitted["gaveWay"]["result"] > 0
    assert any(row.get("how") == "result" for row in fitted["breakdown"])
    assert "results cut to head and tail" in dry("--fit").out

    shell.settings({"sessionRebase": {"checkpointTargetTokens": ways["budget"]["budget"]}})
    larger = dry.json()
    assert (larger["status"], larger["checkpointTokens"]) == ("preview", ways["budget"]["tokens"])


def test_what_cannot_fit_at_all_says_so(shell: Shell, dry: Dry) -> None:
    """The words of the newest turn are never cut: too many of them are refused even with --fit, with no handoff."""
    shell.add(message(1, None, "user", "word " * 30_000))
    answer = dry.json("--fit", "--show-handoff", expect=1)

    assert answer["code"] == "checkpoint-over-budget"
    assert [way["kind"] for way in answer["ways"]] == ["compact"]
    assert answer["handoff"] == ""
    assert "even with --fit" in dry("--fit", expect=1).out


# --- the handoff ---------------------------------------------------------------------------------------------------


def test_the_handoff_is_shown_to_the_letter(shell: Shell, dry: Dry) -> None:
    """The owner reads exactly the text that the model would, and nothing in it moves the terminal."""
    file = shell.add(message(1, None, "user", "red \x1b[31m and 田中"), message(2, 1, "assistant", "yes"))
    handoff = plan_of(file).handoff
    said = dry("--show-handoff", terminal=True).out

    assert dry.json("--show-handoff", terminal=True)["handoff"] == handoff
    assert said.endswith(handoff.replace("\x1b", "\\x1b") + "\n")
    assert "\x1b" not in said
    assert "handoff" not in dry.json()


def test_an_audience_sees_of_the_handoff_what_it_may(shell: Shell, dry: Dry) -> None:
    """In a pipe a message of a higher class is replaced as a whole, in a frame that still holds."""
    shell.add(
        message(1, None, "user", "[context:sensitive]of Mr. Tanaka[/context:sensitive]"),
        message(2, 1, "assistant", "ordinary"),
    )
    piped = dry.json("--show-handoff")["handoff"]

    assert [quoted.text for quoted in parse(piped).messages] == [OMITTED, "ordinary"]
    assert "Tanaka" not in dry("--show-handoff").out
    assert "Tanaka" in dry("--show-handoff", terminal=True).out


@pytest.mark.parametrize("more", [(), ("--json",), ("--show-handoff", "-v"), ("--json", "--show-handoff", "--fit")])
@pytest.mark.parametrize("terminal", [False, True])
def test_no_secret_is_shown_wherever_it_stands(
    shell: Shell, dry: Dry, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], terminal: bool
) -> None:
    """Not in ids, names, models, tools, arguments, results or words, nor where a narrow terminal cuts a line."""
    monkeypatch.setenv("COLUMNS", "36")
    called = {"type": "toolCall", "id": SECRET, "name": SECRET, "arguments": {"k": SECRET, SECRET: "v"}}
    shell.add(
        entry(2, None, "thinking_level_change", thinkingLevel=SECRET),
        entry(3, 2, "session_info", name=f"name {SECRET}"),
        message(4, 3, "user", f"use {SECRET}"),
        message(5, 4, "assistant", "", content=[called]),
        message(6, 5, "toolResult", f"got {SECRET}" * 100, toolCallId=SECRET, toolName=SECRET),
        entry(7, 6, "model_change", provider=SECRET, modelId=f"m-{SECRET}"),
        message(8, 7, "user", "well") | {"id": SECRET},
        message(9, 7, "user", "bye") | {"parentId": SECRET},
    )
    said = dry(*more, terminal=terminal)

    pieces = {SECRET[at : at + 7] for at in range(4, len(SECRET) - 6)}
    assert {piece for piece in pieces if piece in said.out + said.err} == set()


def test_secrets_are_not_shown_in_refusals(shell: Shell, dry: Dry) -> None:
    """Nor in the ids that a cut exchange names."""
    shell.add(message(1, None, "user", "x") | {"id": SECRET}, calls(2, None, "bash") | {"parentId": SECRET})

    for more in ((), ("--json",), ("-v",), ("-v", "--json")):
        said = dry(*more, expect=1, terminal=True)
        assert SECRET[4:] not in said.out + said.err


def test_deep_values_do_not_break_it(shell: Shell, dry: Dry) -> None:
    """Arguments nested as deep as Pi can read are quoted; deeper ones make the line damaged."""
    for depth, status in ((4000, 0), (40_000, 1)):
        called = {"type": "toolCall", "id": "c", "name": "t", "arguments": "@"}
        nested = line(message(2, 1, "assistant", "", content=[called])).replace(
            b'"@"', b'{"a":' * depth + b"1" + b"}" * depth
        )
        shell.write("deep.jsonl", log(header(str(shell.project)), message(1, None, "user", "go")) + nested + line(
            message(3, 2, "toolResult", "ok", toolCallId="c")))  # fmt: skip
        dry("--session", "s1", "--show-handoff", expect=status)
