"""`history search --scope current-lineage` as a person types it, on sessions that this installation signed."""

import json
import os
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest
from logs import header, lines, message
from rebasing import Bench, say
from shelled import Shell

from foundation.durable import RealFiles
from journal.keys import Keys, Verdict, own_keys, sign
from pi_context import api, proofs
from rebase.sealing import Signer
from sessions import fingerprint

LINEAGE = ("--scope", "current-lineage")


class InstallKey:
    """The key of a scratch installation, as a bench takes it."""

    def __init__(self, keys: Keys) -> None:
        self.signer = Signer(keys.key_id, partial(sign, keys, "lineage"))

    def verify(self, data: bytes, key_id: str, mac: str) -> Verdict:
        """Take everything that names the key and is what it signed."""
        return "good" if (key_id, mac) == (self.signer.key_id, self.signer.sign(data)) else "forged"


class Family:
    """A session of a scratch machine and its targets, the oldest first."""

    def __init__(self, shell: Shell, generations: int) -> None:
        self.shell = shell
        keys = own_keys(os.fspath(shell.agent_dir / "pi-context" / "keys"), RealFiles(), os.urandom)
        bench = Bench(os.fspath(shell.sessions))
        bench.key = InstallKey(keys)  # type: ignore[assignment]
        source = lines(header(str(shell.project), "g0"), message(1, None, "the ledger-key stays in grams"))
        self.files = [bench.write(source, "g0.jsonl")]
        for number in range(1, generations + 1):
            self.files.append(bench.rebased(self.files[-1])[1])
            say(self.files[-1], 0x100 + number, f"step okapi {number}")
        for at, path in enumerate(self.files):
            os.utime(path, (1_790_000_000 + at, 1_790_000_000 + at))

    def keep_current(self) -> None:
        """Let the last target be the newest session again, whatever was done to its sources."""
        os.utime(self.files[-1], (4_000_000_000, 4_000_000_000))

    @property
    def proofs(self) -> Path:
        """The file that remembers what was proved."""
        return self.shell.agent_dir / "pi-context" / "lineage.json"


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give the sizes of the prefixes that are hashed, as they are."""
    read: list[int] = []
    prefix = fingerprint.prefix

    def counted(log: BinaryIO, size: int) -> fingerprint.Fingerprint | None:
        read.append(size)
        return prefix(log, size)

    monkeypatch.setattr("rebase.lineage.fingerprint.prefix", counted)
    return read


def test_ten_generations_are_proved_once(shell: Shell, hashed: list[int]) -> None:
    """Ten recalls over ten generations hash each source once, whatever the process; a source that grew once more."""
    family = Family(shell, 10)
    hashed.clear()
    for _ in range(10):
        answer = shell.search("ledger-key", *LINEAGE)
        assert (answer["status"], answer["effectiveScope"]) == ("complete", "current-lineage")
        assert (answer["hits"][0]["sessionId"], answer["hits"][0]["relation"]) == ("g0", "lineage-ancestor")
    assert len(hashed) == 10
    say(family.files[4], 0x300, "grown")
    family.keep_current()
    shell.search("okapi", *LINEAGE)
    shell.search("okapi", *LINEAGE)
    assert len(hashed) == 11


def test_a_hit_in_a_source_is_read_back_by_the_next_command(shell: Shell) -> None:
    """The reference leads to the original line, verified, and people see where it stands."""
    family = Family(shell, 2)
    told = shell("history", "search", "ledger-key", *LINEAGE, expect=0)
    assert "lineage-ancestor" in told.out
    hit = shell.search("ledger-key", *LINEAGE)["hits"][0]
    answer = shell("history", "read", hit["sourceRef"], "--json", expect=0).json
    assert (answer["text"], answer["verified"]) == ("the ledger-key stays in grams", True)
    os.unlink(family.files[0])
    answer = shell("history", "read", hit["sourceRef"], "--json", expect=1).json
    assert answer["code"] == "source-unavailable"
    told = shell("history", "search", "okapi", *LINEAGE, expect=0)
    assert "[lineage-degraded]" in told.out + told.err


def test_the_status_tells_the_owner_how_deep_the_lineage_is(shell: Shell) -> None:
    """The owner hears how many sources there are and hold; an agent does not."""
    family = Family(shell, 3)
    os.unlink(family.files[1])
    said = shell("history", "status", *LINEAGE, "--json", expect=0, terminal=True).json
    assert said["lineage"] == {"generations": 3, "verified": 2}
    assert "2 of 3 earlier sessions verified" in shell("history", "status", *LINEAGE, expect=0, terminal=True).out
    assert "lineage" not in shell("history", "status", *LINEAGE, "--json", expect=0).json


def test_the_api_looks_into_sources_too(shell: Shell) -> None:
    """A program gets the same answer as the shell."""
    family = Family(shell, 1)
    history = api.open(agent_dir=shell.agent_dir, session=family.files[-1], audience="local")
    assert history.search("ledger-key", scope="current-lineage")["hits"][0]["sessionId"] == "g0"


def test_what_vouches_for_a_source_must_be_ours(shell: Shell, hashed: list[int]) -> None:
    """What is remembered counts with our MAC alone: a source that was changed is not vouched for by another's file."""
    family = Family(shell, 1)
    shell.search("ledger-key", *LINEAGE)
    kept = json.loads(family.proofs.read_text("utf-8"))
    assert family.proofs.stat().st_mode & 0o777 == 0o600
    assert "ledger" not in family.proofs.read_text("utf-8")
    source = Path(family.files[0])
    source.write_bytes(source.read_bytes().replace(b"grams", b"stone"))
    known = source.stat()
    family.keep_current()
    kept["content"][0][:5] = [known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns, known.st_ctime_ns]
    family.proofs.write_text(json.dumps(kept), "utf-8")
    answer = shell.search("ledger-key", *LINEAGE)
    assert (answer["hits"], answer["warnings"]) == ([], ["lineage-degraded"])
    hashed.clear()
    assert shell.search("ledger-key", *LINEAGE)["hits"] == []
    assert hashed == []


@pytest.mark.parametrize(
    "harm", ["", "[]", "{}", "null", '{"content":7,"keyId":1,"mac":2}', '{"content":[[1]],"keyId":"x","mac":"é"}', "\0"]
)
def test_a_damaged_memory_costs_one_more_look(shell: Shell, harm: str, hashed: list[int]) -> None:
    """Whatever stands in the file, the answer is right, and the file is written anew."""
    family = Family(shell, 1)
    shell.search("ledger-key", *LINEAGE)
    family.proofs.write_text(harm, "utf-8")
    hashed.clear()
    for _ in range(2):
        assert shell.search("ledger-key", *LINEAGE)["status"] == "complete"
    assert len(hashed) == 1


def test_a_memory_that_cannot_be_written_changes_no_answer(shell: Shell) -> None:
    """Where the file cannot be replaced, the sources are proved again."""
    family = Family(shell, 1)
    family.proofs.mkdir(parents=True)
    for _ in range(2):
        assert shell.search("ledger-key", *LINEAGE)["status"] == "complete"


def test_a_session_that_only_speaks_of_links_has_none(shell: Shell) -> None:
    """The names of our entries in a message make no rebased session."""
    said = lines(message(1, None, "okapi: what is a context-rebase-link-v1 or a context-rebase-handoff-v1?"))
    shell.write("s1.jsonl", lines(header(str(shell.project), "s1")) + said)
    answer = shell.search("okapi", *LINEAGE, "--session", str(shell.sessions / "s1.jsonl"))
    assert (len(answer["hits"]), answer["status"]) == (1, "complete")
    assert (answer["effectiveScope"], answer["warnings"]) == ("current-branch", ["lineage-equals-branch"])


@pytest.mark.parametrize("harm", ["gone", "damaged", "another"])
def test_without_our_key_a_link_is_nobodys(shell: Shell, harm: str) -> None:
    """Where the key is gone, damaged or another one, only the branch is searched, and people are told why."""
    family = Family(shell, 1)
    key = shell.agent_dir / "pi-context" / "keys" / "install.key"
    if harm == "gone":
        key.unlink()
    else:
        key.write_bytes(b"x" * (32 if harm == "another" else 7))
    answer = shell.search("okapi", *LINEAGE)
    assert (answer["effectiveScope"], answer["warnings"]) == ("current-branch", ["lineage-unverified"])
    assert len(answer["hits"]) == 1
    assert not family.proofs.exists()
    told = shell("history", "search", "okapi", *LINEAGE, expect=0)
    assert "does not hold; only this branch was searched" in told.out + told.err


def test_a_dry_run_reads_what_is_remembered_and_writes_nothing(shell: Shell, hashed: list[int]) -> None:
    """A dry run takes a proof from the memory of recall, and leaves none behind itself."""
    family = Family(shell, 2)
    shell("rebase", "--dry-run", "--json", expect=0, terminal=True)
    assert not family.proofs.exists()
    shell.search("okapi", *LINEAGE)
    before = family.proofs.read_bytes(), family.proofs.stat().st_mtime_ns
    hashed.clear()
    shell("rebase", "--dry-run", "--json", expect=0, terminal=True)
    assert hashed == []
    assert (family.proofs.read_bytes(), family.proofs.stat().st_mtime_ns) == before


def test_the_memory_is_bounded(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest proofs make room, and a file that grew counts in its last state only, as the newest one."""
    family = Family(shell, 2)
    for number in range(3):
        say(family.files[1], 0x300 + number, "grown")
        family.keep_current()
        shell.search("okapi", *LINEAGE)
    assert len(json.loads(family.proofs.read_text("utf-8"))["content"]) == 2
    monkeypatch.setattr("pi_context.proofs.MOST", 1)
    say(family.files[1], 0x400, "grown")
    family.keep_current()
    shell.search("okapi", *LINEAGE)
    assert len(json.loads(family.proofs.read_text("utf-8"))["content"]) == 1
    first, second, again = (1, 1, 10, 5, 5, 10, "a"), (1, 2, 10, 5, 5, 10, "b"), (1, 1, 20, 6, 6, 10, "a")
    monkeypatch.setattr("pi_context.proofs.MOST", 2)
    kept = proofs._joined({first: True, second: True}, {again: False})
    assert kept == [[*second, True], [*again, False]]
