"""A project's memory in a folder of its own, which can be changed, crash, be recovered and looked at from outside."""

import os
from contextlib import AbstractContextManager

from deliveries import KEYS, NOW, Look, look

from foundation.durable import Files, RealFiles
from journal.lifecycle import Record
from journal.operations import Outcome
from journal.places import Journal
from journal.reading import SetAside, listed
from journal.writing import HeldJournal, locked
from memory import changing, claims, ledger, projecting, removing
from memory.batches import Batch, decode, replayed, rewritten
from memory.changing import COURSE, Site, appended
from memory.claims import Said
from memory.model import Memory, NameDigest, with_change
from memory.names import Fold
from memory.removing import Target
from memory.seeing import sight_of

OPERATION = "memory_1"
FOLD = Fold()
SECRET_NAME, SECRET_TEXT = "Zanzibar Quillfeather", "pays forty-two doubloons"


class Ids:
    """Gives ids that tests can foretell."""

    def __init__(self) -> None:
        self.last = 0

    def __call__(self, prefix: str) -> str:
        """Give the next one."""
        self.last += 1
        return f"{prefix}{self.last:04}"


def digest(name: str) -> NameDigest:
    """Give a digest that any test can make, which says nothing of the name."""
    from hashlib import sha256

    from memory.masking import measured

    words, characters = measured(name)
    return NameDigest(sha256(name.encode()).hexdigest(), "k", words, characters, 1)


def facts(*said: tuple[str, str, str], confirm: bool = True, at: int = NOW) -> tuple[Memory, list[Batch]]:
    """Give a memory of confirmed facts, and the changes that led to it."""
    memory, batches, identify = Memory(), [], Ids()
    for words in said:
        change = claims.asserted(memory, Said(*words), at=at, identify=identify, fold=FOLD)
        if confirm:
            change = change.then(claims.confirmed(with_change(memory, change), change.statements[0].id))
        memory = with_change(memory, change)
        batches.append(Batch(at, change))
    return memory, batches


class Remembering:
    """A memory with two facts about one thing; `op` says what is done to it."""

    course = COURSE
    op = "remove"

    def __init__(self, root: str, disk: Files | None = None) -> None:
        self.root, self.folder = root, os.path.join(root, "own", "projects", "p")
        self.disk: Files = disk or RealFiles()
        self.now = NOW
        self.entered: list[str] = []
        self.followed = 0
        if not os.path.exists(self.folder):
            _, batches = facts(("owner", "knows", SECRET_NAME), (SECRET_NAME, SECRET_TEXT, "always"))
            data = rewritten(batches)
            changing.write(Site(self.folder, RealFiles(), lambda _: None, lambda: None), data)
            if self.op != "remove":
                changing.write(
                    Site(self.folder, RealFiles(), lambda _: None, lambda: None), self._after(data, "remove")
                )
            with open(os.path.join(root, "before"), "wb") as file:
                file.write(ledger.read(self.folder))

    def clock(self) -> int:
        """Give the time; it goes on by itself."""
        self.now += 1
        return self.now

    @property
    def before(self) -> bytes:
        """The file before anything was done."""
        with open(os.path.join(self.root, "before"), "rb") as file:
            return file.read()

    @property
    def journal(self) -> Journal:
        """Give the journal."""
        return Journal(self.folder, COURSE, KEYS)

    def held(self) -> AbstractContextManager[HeldJournal]:
        """Hold it."""
        return locked(self.journal, disk=self.disk, clock=self.clock, pid=1, busy="memory-busy", wait_seconds=0)

    def site(self) -> Site:
        """Give where memory is changed; what follows is noted."""

        def follow(record: Record) -> None:
            assert record.phase == changing.COMMITTED
            self.followed += 1

        return Site(self.folder, self.disk, follow, self.project)

    def project(self) -> None:
        """Let go of what was kept, and keep it anew, as the door does."""
        projecting.drop(self.disk, self.folder)
        sight = sight_of(ledger.load(self.folder), lambda _key, _name: "", now=self.now, fold=FOLD)
        projecting.keep(self.disk, self.folder, sight, now=self.now)

    def after(self) -> bytes:
        """Give the file as it is to be."""
        return self._after(self.before, self.op)

    def _after(self, data: bytes, op: str) -> bytes:
        memory, identify = replayed(data), Ids()
        identify.last = 100
        if op == "remove":
            target = Target("entity", SECRET_NAME)
            told = removing.effects(memory, [target], at=NOW, identify=identify, fold=FOLD)
            return appended(data, Batch(NOW, removing.removed(told)))
        (row,) = removing.rows(memory)
        if op == "restore":
            return appended(data, Batch(NOW, removing.restored(memory, row.id)))
        batches, gone, refused = removing.deleted(memory, decode(data), [row.id], at=NOW, digest=digest)
        assert (gone, refused) == ([row.id], [])
        return rewritten(batches)

    def run(self) -> Outcome:
        """Do it."""
        with self.held() as journal:
            return changing.carry_out(
                journal, self.site(), OPERATION, op=self.op, plan_id="p", before=self.before, after=self.after()
            )

    def recover(self) -> Outcome:
        """Bring it to its end."""
        with self.held() as journal:
            return changing.recover(journal, self.site(), OPERATION)

    def record(self) -> Record | SetAside | None:
        """Give what the journal says of it."""
        found = listed(self.journal)
        return found[0] if found else None

    def check_always(self) -> None:
        """Memory can be read at any moment, and is as before or as after."""
        assert ledger.read(self.folder) in (self.before, self.after())
        for path in self.files():
            if os.path.basename(path) not in (
                "memory.jsonl",
                "memory.jsonl.staged",
                "memory.jsonl.staged.new",
                "memory.jsonl.new",
            ):
                with open(path, "rb") as file:
                    assert SECRET_NAME.encode() not in file.read(), path

    def check_settled(self) -> str:
        """Nothing temporary is left; give how it ended: done, as before, or never begun."""
        self.check_always()
        assert not [path for path in self.files() if path.endswith((".staged", ".new"))]
        record = self.record()
        if record is None:
            assert ledger.read(self.folder) == self.before
            return "nothing"
        assert not isinstance(record, SetAside)
        if record.closed:
            assert ledger.read(self.folder) == self.before
            return "closed"
        assert record.phase == changing.APPLIED
        assert ledger.read(self.folder) == self.after()
        return changing.APPLIED

    def files(self) -> list[str]:
        """List the files of memory."""
        return [os.path.join(at, name) for at, _, names in os.walk(self.folder) for name in names]

    def without_lock(self) -> dict[str, Look]:
        """Look at every file but the lock."""
        return {path: look(path) for path in self.files() if os.path.basename(path) != "lock"}


class Restoring(Remembering):
    """The same, once removed, and brought back."""

    op = "restore"


class Deleting(Remembering):
    """The same, once removed, and deleted for good."""

    op = "delete"
