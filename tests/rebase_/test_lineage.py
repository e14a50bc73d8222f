"""Lineage: a link counts only when it is proved, generation by generation, and handoffs are carried on, not quoted."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from logs import entry, line, message, talk
from rebasing import Bench, Key, bodies, frame, records, say

from foundation.errors import ContextError
from rebase.lineage import head_link
from rebase.plan import Plan
from rebase.sealing import digest, sealed
from sessions import fingerprint


def story(bench: Bench, count: int = 40, name: str = "source.jsonl") -> str:
    return bench.log(
        *talk(count, lambda number: f"turn {number}: keep the ledger in grams, file {number}.py"), name=name
    )


def chain(
    bench: Bench, generations: int, *, fitted: bool = False, words: str = "small step"
) -> tuple[list[Plan], list[str]]:
    """Rebase again and again, saying something in between; give the plans and the files, the source first."""
    files, plans = [story(bench)], []
    for number in range(generations):
        if number:
            say(files[-1], 0x100 + number, f"{words} {number}")
        plan, path = bench.rebased(files[-1], fitted=fitted)
        plans.append(plan)
        files.append(path)
    return plans, files


def test_the_second_handoff_is_hardly_larger(bench: Bench) -> None:
    """With little added, three more generations stay within 1.2 times of the first, and quote every message once."""
    plans, _ = chain(bench, 4)
    assert all(plan.tokens <= 1.2 * plans[0].tokens for plan in plans)
    assert bodies(plans[3])[:40] == bodies(plans[0])
    assert bodies(plans[3])[40:] == ["small step 1", "small step 2", "small step 3"]
    assert plans[3].depth == 4


def test_ten_generations_with_fit_stay_in_the_budget(bench: Bench) -> None:
    """Long steps and a small budget: every generation fits, folded messages are counted on, the newest words stay."""
    bench.budget(1000)
    plans, files = chain(bench, 10, fitted=True, words="a long step " * 60)
    assert all(plan.tokens <= 1000 for plan in plans)
    assert bodies(plans[9])[-1] == "a long step " * 60 + " 9"
    last = plans[9]
    assert sum(row.messages for row in last.breakdown) == 40 + 9
    assert frame(last).messages[0].role == "folded"
    assert last.depth == 10
    assert last.contents is not None
    quoted = {(block.sessionId, block.entryId) for block in last.contents.blocks if not block.how}
    gone = {(piece.session_id, piece.entry_id) for piece in last.contents.elided}
    assert not quoted & gone
    handoffs = {records(file)[-2]["id"] for file in files[1:]} | {records(file)[-1]["id"] for file in files[1:]}
    assert (
        not {piece.entry_id for piece in last.contents.elided if piece.session_id == last.source.sessionId} & handoffs
    )


def test_carried_messages_keep_their_origin(bench: Bench) -> None:
    """Each quoted message says in which session and entry it stands, however often it was carried on."""
    plans, files = chain(bench, 3)
    data = records(files[3])[-3]["data"]
    sessions = [plan.source.sessionId for plan in plans]
    assert [origin["sessionId"] for origin in (data["source"], *data["ancestors"])] == sessions[::-1]
    assert {block["sessionId"] for block in data["blocks"]} == set(sessions)
    assert data["blocks"][0]["entryId"] == "00000001"


def test_a_compaction_in_the_target_replaces_the_handoff(bench: Bench) -> None:
    """Where the target was compacted the summary is quoted in place of the handoff, and the lineage still holds."""
    _, files = chain(bench, 1)
    say(files[1], 0x100, "go on")
    last = records(files[1])[-1]["id"]
    with open(files[1], "ab") as file:
        file.write(
            line(
                entry("compaction", 0x101, None, summary="all so far", firstKeptEntryId=last, tokensBefore=9)
                | {"parentId": last}
            )
            + b"\n"
        )
    plan = bench.plan(files[1])
    assert bodies(plan) == ["all so far", "go on"]
    assert plan.depth == 2


def test_a_fork_of_a_target_keeps_its_lineage(bench: Bench) -> None:
    """Pi copies entries into a fork under a new session id: the link still proves where they came from."""
    _, files = chain(bench, 1)
    head, *rest = Path(files[1]).read_bytes().splitlines(keepends=True)
    fork = bench.write(line(json.loads(head) | {"id": "fork"}) + b"\n" + b"".join(rest), "fork.jsonl")
    assert bench.plan(fork).depth == 2


def test_an_edited_handoff_is_no_longer_carried(bench: Bench) -> None:
    """Where Pi replaced what the handoff says, that text is quoted as any other message."""
    _, files = chain(bench, 1)
    handoff = records(files[1])[-1]["id"]
    edit = entry("context_edit", 0x100, None, targetId=handoff, replacement={"content": "shortened"}) | {
        "parentId": handoff
    }
    with open(files[1], "ab") as file:
        file.write(line(edit) + b"\n")
    assert bodies(bench.plan(files[1])) == ["shortened"]


def test_recall_finds_the_link_without_reading_the_session(bench: Bench) -> None:
    """The head of a target has its link, whatever follows it; a session that is no target has none."""
    _, files = chain(bench, 2)
    plan, handoff = bench.plan(files[2]), records(files[2])[-1]["id"]
    with open(files[2], "ab") as file:
        file.write(b"{garbage\n" + b"torn")
    own = head_link(files[2], bench.key.verify)
    assert own is not None
    assert own.origins == tuple(generation.origin for generation in plan.generations)
    assert own.handoff_id == handoff
    assert head_link(files[0], bench.key.verify) is None
    assert (
        head_link(
            bench.write(line({"type": "session", "version": 2, "id": "x"}) + b"\n", "old.jsonl"), bench.key.verify
        )
        is None
    )
    bench.key = Key("another")
    with pytest.raises(ContextError, match="another installation"):
        head_link(files[2], bench.key.verify)


# --- what does not hold ---------------------------------------------------------------------------------------------


def changed(file: str, kind: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Edit the data of one of our entries in a target."""
    values = records(file)
    for value in values:
        if value.get("customType") == f"context-rebase-{kind}-v1":
            change(value)
    Path(file).write_bytes(b"".join(line(value) + b"\n" for value in values).replace(b"Infinity", b"1e999"))


EDITS: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "a quoted text": ("checkpoint", lambda value: value["data"]["blocks"][0].update(text="forged")),
    "a lowered class": ("checkpoint", lambda value: value["data"]["blocks"][0].update(classification="internal")),
    "an elided piece": ("checkpoint", lambda value: value["data"]["elided"].append({})),
    "an unknown field": ("checkpoint", lambda value: value["data"].update(more=1)),
    "a number that JSON cannot hold": ("checkpoint", lambda value: value["data"].update(more=float("inf"))),
    "the source": ("link", lambda value: value["data"]["source"].update(leafId="x")),
    "the target": ("link", lambda value: value["data"].update(targetSessionId="x")),
    "the key": ("link", lambda value: value["data"].update(keyId="theirs")),
    "no MAC": ("link", lambda value: value["data"].pop("mac")),
    "no MAC on the checkpoint": ("checkpoint", lambda value: value["data"].pop("mac")),
    "another type": ("checkpoint", lambda value: value["data"].update(createdAt="now")),
    "no data": ("checkpoint", lambda value: value.update(data=None)),
    "data that is a list": ("link", lambda value: value.update(data=[1])),
    "the handoff": ("handoff", lambda value: value.update(content=value["content"] + " ")),
    "a handoff of blocks": ("handoff", lambda value: value.update(content=[{"type": "text", "text": value["content"]}])),
    "a missing checkpoint": ("checkpoint", lambda value: value.update(customType="other")),
    "a missing link": ("link", lambda value: value.update(customType="other")),
    "a missing handoff": ("handoff", lambda value: value.update(customType="other")),
}  # fmt: skip


@pytest.mark.parametrize("case", EDITS)
def test_an_edited_target_is_refused(bench: Bench, case: str) -> None:
    """Any edit of link, checkpoint or handoff is noticed, and nothing of it stands in the error."""
    _, files = chain(bench, 1)
    changed(files[1], *EDITS[case])
    with pytest.raises(ContextError) as found:
        bench.plan(files[1])
    assert found.value.code == "lineage-unverified"
    assert "forged" not in found.value.message.replace("The link is not what was signed", "")
    assert "turn 1" not in found.value.message


def resigned(bench: Bench, file: str, change: Callable[[dict[str, Any]], object], *, relink: bool) -> None:
    """Edit a checkpoint and sign it anew, with `relink` the link to it as well, as only a defect of ours could."""
    values = records(file)
    found = {value.get("customType"): value for value in values}
    checkpoint, link = (found[f"context-rebase-{kind}-v1"] for kind in ("checkpoint", "link"))
    for purpose, entry_, edit in (("checkpoint", checkpoint, change), ("link", link, lambda _: None)):
        data = {name: value for name, value in entry_["data"].items() if name not in ("keyId", "mac")}
        edit(data)
        if purpose == "link" and relink:
            data["checkpointSha256"] = digest(checkpoint["data"])
        entry_["data"] = json.loads(sealed(purpose, data, bench.key.signer).text)
    Path(file).write_bytes(b"".join(line(value) + b"\n" for value in values))


def test_signed_records_must_agree_with_each_other(bench: Bench) -> None:
    """A checkpoint that is signed but is not the one of the link, or that quotes what the handoff does not, is refused."""
    for relink, change in (
        (False, lambda data: data.update(interrupted=5)),
        (True, lambda data: data["blocks"][0].update(text="another")),
        (True, lambda data: data.update(operationId="another")),
        (True, lambda data: data["source"].update(leafId="another")),
    ):
        _, files = chain(bench, 1)
        resigned(bench, files[1], change, relink=relink)
        with pytest.raises(ContextError, match="do not agree"):
            bench.plan(files[1])
    _, files = chain(bench, 1)
    resigned(bench, files[1], lambda _: None, relink=True)
    assert bench.plan(files[1]).depth == 2


def test_the_preamble_of_a_handoff_is_sealed_too(bench: Bench) -> None:
    """A word of the handoff that belongs to no message cannot be changed either."""
    _, files = chain(bench, 1)
    changed(
        files[1], "handoff", lambda value: value.update(content=value["content"].replace("data and no", "orders as", 1))
    )
    with pytest.raises(ContextError, match="do not agree"):
        bench.plan(files[1])


def test_a_target_of_another_installation_is_refused(bench: Bench) -> None:
    """What another key signed is not ours, and says so."""
    _, files = chain(bench, 1)
    bench.key = Key("another")
    with pytest.raises(ContextError, match="another installation"):
        bench.plan(files[1])


@pytest.mark.parametrize("harm", ["gone", "edited", "shorter"])
def test_a_lost_source_stops_the_nearest_and_degrades_older_ones(bench: Bench, harm: str) -> None:
    """The nearest source must be there, byte for byte; the loss of an older one is a warning about that one only."""
    _, files = chain(bench, 3)
    data = Path(files[0]).read_bytes()
    if harm == "gone":
        os.unlink(files[0])
    else:
        Path(files[0]).write_bytes(data.replace(b"turn 1:", b"turn X:") if harm == "edited" else data[:-100])
    plan = bench.plan(files[3])
    state = "source-missing" if harm == "gone" else "source-changed"
    assert [generation.state for generation in plan.generations] == ["verified", "verified", state]
    assert plan.warnings == ("lineage-degraded",)
    with pytest.raises(ContextError) as found:
        bench.plan(files[1])
    assert found.value.code == "lineage-unverified"


def test_a_source_may_grow_and_move(bench: Bench) -> None:
    """Appending changes no prefix; a file under another name is found by its bytes, if the door offers it."""
    _, files = chain(bench, 1)
    say(files[0], 0x99, "the source lives on")
    assert bench.plan(files[1]).generations[0].state == "verified"
    moved = bench.path("elsewhere.jsonl")
    os.rename(files[0], moved)
    bench.locate = lambda _: [bench.path("nothing"), files[1], moved]  # type: ignore[method-assign,assignment]
    assert bench.plan(files[1]).generations[0].file == moved


def test_what_was_proved_is_not_read_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten generations are hashed once; later only a source that changed, and a change is noticed."""
    read: list[int] = []
    prefix = fingerprint.prefix

    def counted(log: BinaryIO, size: int) -> fingerprint.Fingerprint | None:
        read.append(size)
        return prefix(log, size)

    monkeypatch.setattr("rebase.lineage.fingerprint.prefix", counted)
    _, files = chain(bench, 10)
    read.clear()
    bench.proved = bench.plan(files[10]).proved
    assert len(read) == 10
    bench.plan(files[10])
    assert len(read) == 10
    say(files[4], 0x99, "grown")
    bench.proved = bench.plan(files[10]).proved
    assert len(read) == 11
    Path(files[9]).write_bytes(Path(files[9]).read_bytes().replace(b"turn 1", b"turn X", 1))
    with pytest.raises(ContextError):
        bench.plan(files[10])


def test_a_secret_that_today_is_known_goes_from_carried_messages_too(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Carried texts pass the gates of today: what an older version let through is redacted when it is carried on."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    file = bench.log(message(1, None, f"use {token}"))
    with monkeypatch.context() as older:
        older.setattr("privacy.redaction.find", lambda _: [])
        _, target = bench.rebased(file)
    assert token.encode() in Path(target).read_bytes()
    plan = bench.plan(target)
    assert token not in plan.handoff
    assert token.encode() not in bench.target(plan).data
