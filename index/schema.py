"""The tables of the index, and how its numbers are packed.

`rid = session << 24 | record`: one session is one range of rowids, which FTS5 can seek into, and within it rowids
follow the file. A session holds at most 16,777,215 records; those beyond are quarantined as `too-many-records`.

A *run* is a stretch of records each of which is the child of the record before it. The ancestors of a leaf are
then a few rowid intervals, however deep the chain; appending relabels nothing.
"""

import re
from hashlib import sha256

from foundation.settings import CLASSES
from index.tokens import TOKENIZER

SHIFT = 24
MOST_RECORDS = (1 << SHIFT) - 1
_PI_ID = re.compile("[0-9a-f]{8}").fullmatch
_MADE_UP_ID = re.compile("n[0-9a-f]{7}").fullmatch
_MADE_UP = 1 << 32

ROLES = ("", "user", "assistant", "toolResult", "bashExecution", "custom", "summary")
"""The roles by their number in the tables, which stays: a new one comes last. A test holds them complete."""

ROLE_CODE = {name: code for code, name in enumerate(ROLES)}

CLASS_CODE: dict[str | None, int] = {None: 0} | {name: code for code, name in enumerate(CLASSES, 1)}
"""The class that an entry's own markers demand; 0 where it has none and the default in force decides."""

MIGRATIONS: tuple[str, ...] = (
    f"""
    create table meta(key text primary key, value any) without rowid;
    create table session(
        sid integer primary key,
        path blob not null unique,   -- canonical path, as the file system spells it
        inode integer, size integer, mtime integer, ctime integer,  -- of the file as it was last read (ns)
        done integer not null,       -- bytes indexed: up to here, a whole number of lines
        line integer not null,       -- number of the physical line that starts at `done`
        records integer not null,    -- record numbers given out
        position integer not null, last_id blob, run integer,       -- where id chain and runs go on
        head blob not null, chain blob not null, tail blob not null,  -- of what lies before `done`: `changes`
        proved integer not null,     -- 0 where the file grew since all that lies before `done` was read last
        id text not null, version integer not null, cwd text not null, parent text not null, name text not null,
        started integer, active integer,                            -- ms: header, newest user or assistant message
        newest integer not null,     -- ms: newest entry
        entries integer not null, repeats integer not null
    );
    create table entry(
        rid integer primary key,
        eid integer not null,        -- the entry's id as a number: see `id_key`
        run integer not null,        -- first rid of its run
        ts integer,                  -- ms
        off integer not null, len integer not null, sha blob not null,
        role integer not null, class integer not null, tools integer not null,
        digest integer               -- of the redacted text; null where there is nothing to search
    );
    create index entry_eid on entry(eid);
    create table run(lo integer primary key, parent integer);       -- parent: id_key of the first record's parent
    create table edit(rid integer primary key, target integer not null, omits integer not null);
    create table toolset(id integer primary key, names text not null unique);
    create table quarantine(
        sid integer not null, line integer not null, off integer not null, len integer not null, reason text not null,
        primary key (sid, off)
    ) without rowid;
    create virtual table words using fts5(text, content='', contentless_delete=1, tokenize="{TOKENIZER}");
    insert into words(words, rank)
        values('automerge', 0), ('crisismerge', 1999), ('usermerge', 16), ('pgsz', 8146);  -- see `tuning`
    """,
)
"""Numbered from 1; a published one is never edited, or the indexes out there would look damaged."""

CHECKSUMS = tuple(sha256(sql.encode()).hexdigest() for sql in MIGRATIONS)


def first_rid(sid: int) -> int:
    """Give the rid before all records of a session: record numbers start at 1."""
    return sid << SHIFT


def last_rid(sid: int) -> int:
    """Give the highest rid that a session may use."""
    return (sid << SHIFT) | MOST_RECORDS


def id_key(identity: str) -> int:
    """Turn an entry id into a number.

    Pi's eight hex digits and the made-up ids of entries without one keep their digits; any other id is its digest.
    """
    if _PI_ID(identity):
        return int(identity, 16)
    if _MADE_UP_ID(identity):
        return _MADE_UP | int(identity[1:], 16)
    digest = sha256(identity.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 2 | 1 << 61


def made_up_id(key: int) -> str | None:
    """Give back the made-up id that a number stands for; None where the id stands in the log."""
    return f"n{key & ~_MADE_UP:07x}" if key >> 32 == 1 else None


def text_key(text: bytes) -> int:
    """Give the number by which equal texts are recognised."""
    return int.from_bytes(sha256(text).digest()[:8], "big", signed=True)


def encoded(identity: str | None) -> bytes | None:
    """Write an id for the database as it is, lone surrogates included."""
    return identity.encode("utf-8", "surrogatepass") if identity else None


def decoded(identity: bytes | None) -> str | None:
    """Read an id back."""
    return identity.decode("utf-8", "surrogatepass") if identity else None
