"""A rebased session that came from another machine counts once its owner says so, and never if it was tampered with."""

import json
from pathlib import Path

import pytest
from pi_logs import message, talk
from rebase_acts import Acts, key_of
from shelled import CTRL_C, Shell

TALK = talk(4)


def from_elsewhere(shell: Shell, rebase: Acts) -> Path:
    """Rebase a session, then have the key of another machine: none yet; give the target."""
    target = Path(rebase.json("--yes", "--session", shell.add(*TALK))["targetFile"])
    key_of(shell).rename(shell.home / "their.key")
    return target


def test_what_another_machine_signed_counts_once_it_is_adopted(shell: Shell, rebase: Acts) -> None:
    """Before, a rebase of it is refused and names the way; after, it is rebased with its source as lineage."""
    target = from_elsewhere(shell, rebase)
    refused = rebase.json("--yes", "--session", target, expect=1)
    assert refused["code"] == "lineage-unverified"
    assert "--adopt" in refused["hint"]
    answer = rebase.json("--adopt", target, "--yes")
    assert (answer["status"], answer["adoptedSeals"], answer["journal"]) == ("adopted", 2, "adopted")

    done = rebase.json("--yes", "--again", "--session", target)
    assert (done["status"], done["lineageDepth"]) == ("verified", 2)
    assert done["lineage"][0]["state"] == "verified"
    assert target.read_bytes().count(b'"mac"') == 2


def test_the_record_of_its_operation_is_adopted_too(shell: Shell, rebase: Acts) -> None:
    """It can be listed and looked at again as one of ours."""
    target = from_elsewhere(shell, rebase)
    [before] = rebase.json("--list")["operations"]
    assert (before["status"], before["code"]) == ("set-aside", "journal-foreign")
    rebase("--adopt", target, "--yes")
    [after] = rebase.json("--list")["operations"]

    assert (after["operationId"], after["status"]) == (before["operationId"], "verified")
    assert rebase.json("--recover", after["operationId"])["status"] == "verified"


@pytest.mark.parametrize("kept", ["session alone", "damaged record"])
def test_a_session_can_be_adopted_without_its_record(shell: Shell, rebase: Acts, kept: str) -> None:
    """The journal may have stayed on the other machine, or may be damaged: then it is left as it is."""
    target = from_elsewhere(shell, rebase)
    [record] = (shell.sessions / ".ds4-rebase" / "operations").iterdir()
    if kept == "session alone":
        record.unlink()
    else:
        record.write_bytes(b"{")
    answer = rebase.json("--adopt", target, "--yes")

    assert answer["journal"] == ("missing" if kept == "session alone" else "journal-damaged")
    assert rebase.json("--yes", "--session", target)["lineageDepth"] == 2


@pytest.mark.parametrize(("typed", "status"), [("y\n", 0), ("n\n", 1), ("", 1), (CTRL_C, 130)])
def test_to_adopt_is_asked_for(shell: Shell, rebase: Acts, typed: str, status: int) -> None:
    """The question names the key; anything but yes does nothing, and makes no key either."""
    target = from_elsewhere(shell, rebase)
    key_id = json.loads(next(row for row in target.read_bytes().splitlines() if b'"keyId"' in row))["data"]["keyId"]
    before = rebase.seen()
    said = rebase("--adopt", target, typed=typed, expect=status)

    assert f"signed by key {key_id}? [y/N] " in said.err
    assert (rebase.seen() == before) == (status != 0)


def test_nobody_is_asked_about_what_counts_already(shell: Shell, rebase: Acts) -> None:
    """One of our own, or one that was adopted before: nothing is written."""
    own = Path(rebase.json("--yes", "--session", shell.add(*TALK))["targetFile"])
    with rebase.nothing_left():
        assert "counts already" in rebase("--adopt", own).out
        assert rebase.json("--adopt", own)["adoptedSeals"] == 0
    key_of(shell).unlink()
    rebase("--adopt", own, "--yes")
    with rebase.nothing_left():
        assert "counts already" in rebase("--adopt", own).out


def test_a_script_says_yes(shell: Shell, rebase: Acts) -> None:
    """Without a terminal nobody can be asked."""
    target = from_elsewhere(shell, rebase)
    shell.owner_scripts()
    rebase.refused("--adopt", target, code="confirmation-required", terminal=False)
    rebase.refused("--adopt", target, code="confirmation-required")
    assert rebase.json("--adopt", target, "--yes", terminal=False)["status"] == "adopted"


@pytest.mark.parametrize("signer", ["ours", "theirs"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"text":"turn 1', b'"text":"turn 7'),  # in the checkpoint
        (b"turn 1 ", b"turn 7 "),  # in the handoff and the checkpoint
        (b'"leafId":"00000004"', b'"leafId":"00000003"'),
    ],
)
def test_what_was_tampered_with_cannot_be_adopted(
    shell: Shell, rebase: Acts, old: bytes, new: bytes, signer: str
) -> None:
    """What our key did not sign so, and what does not agree with itself, is refused whoever signed it."""
    made = rebase.json("--yes", "--session", shell.add(*talk(["turn 1 of it", "b", "c", "d"])))
    target = Path(made["targetFile"])
    if signer == "theirs":
        key_of(shell).unlink()
    data = target.read_bytes()
    assert old in data
    target.write_bytes(data.replace(old, new, 1))

    rebase.refused("--adopt", target, "--yes", code="lineage-unverified")


def test_a_seal_that_names_our_key_and_does_not_fit_cannot_be_adopted(shell: Shell, rebase: Acts) -> None:
    """All else agrees, but our key did not sign it: that is no other installation's, it is a forgery."""
    target = Path(rebase.json("--yes", "--session", shell.add(*TALK))["targetFile"])
    lines = target.read_bytes().splitlines(keepends=True)
    [at] = [number for number, line in enumerate(lines) if b'"customType":"context-rebase-link-v1"' in line]
    mac = json.loads(lines[at])["data"]["mac"].encode()
    lines[at] = lines[at].replace(mac, mac[:-1] + (b"0" if mac[-1:] != b"0" else b"1"))
    target.write_bytes(b"".join(lines))

    rebase.refused("--adopt", target, "--yes", code="lineage-unverified")
    with rebase.nothing_left():
        assert "[y/N]" not in rebase("--adopt", target, typed="y\n", expect=1).err


def test_what_is_no_rebased_session_cannot_be_adopted(shell: Shell, rebase: Acts) -> None:
    """An ordinary session, no session, none at all, several of that name: each has its code and leaves nothing."""
    file = shell.add(*TALK)
    shell.add(*TALK, name="s2.jsonl", identity="s12")
    garbage = shell.write("garbage.jsonl", b"garbage\n")
    for wanted, code in (
        (file, "not-rebased"), (garbage, "not-a-session"), ("7777", "session-not-found"),
        (file.with_name("none.jsonl"), "file-missing"), ("s1", "not-rebased"), ("s", "session-ambiguous"),
    ):  # fmt: skip
        rebase.refused("--adopt", wanted, "--yes", code=code)


def test_adoptions_are_signed(shell: Shell, rebase: Acts) -> None:
    """A list of adoptions that somebody else wrote or changed counts for nothing."""
    target = from_elsewhere(shell, rebase)
    rebase("--adopt", target, "--yes")
    adopted = shell.agent_dir / "pi-context" / "keys" / "adopted.json"
    sound = adopted.read_bytes()
    assert adopted.stat().st_mode & 0o077 == 0
    changed = json.loads(sound)
    changed["content"].append("0" * 64)
    for data in (json.dumps(changed).encode(), b"", b"[]", b'{"content":[[]]}', sound[:-30], b"\xff\xfe"):
        adopted.write_bytes(data)
        assert rebase.json("--dry-run", "--session", target, expect=1)["code"] == "lineage-unverified"
    adopted.write_bytes(sound)
    assert rebase.json("--dry-run", "--session", target)["lineageDepth"] == 2


def test_the_source_must_be_the_one_all_the_same(shell: Shell, rebase: Acts) -> None:
    """To trust a signature is not to trust another session in the place of the one that was rebased."""
    target = from_elsewhere(shell, rebase)
    rebase("--adopt", target, "--yes")
    (shell.sessions / "s1.jsonl").unlink()
    shell.written.clear()
    shell.add(*TALK, message(5, 4, "user", "x"), name="s1.jsonl", identity="s1")
    assert rebase.json("--dry-run", "--session", target)["lineageDepth"] == 2  # it only went on
    shell.written.clear()
    shell.add(*talk(["other", "words"]), name="s1.jsonl", identity="s1")
    assert rebase.json("--dry-run", "--session", target, expect=1)["code"] == "lineage-unverified"
