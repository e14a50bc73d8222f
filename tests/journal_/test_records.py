"""A record counts only if it is whole, ours and of this version; anything else is named by a code and left as it is."""

import json
import os
import stat
from collections.abc import Callable
from typing import Any

import pytest
from deliveries import COURSE, KEYS, OPERATION, STAGES, Delivery
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.canonical import dumps
from foundation.errors import CODES, ContextError
from journal.keys import Keys, sign
from journal.lifecycle import KEPT_ATTEMPTS, Attempt, Course, Record
from journal.places import Journal
from journal.reading import SetAside, find, listed, read
from journal.records import LARGEST, PURPOSE, Refused, decode, encode

OTHERS = Keys("fedcba9876543210", b"o" * 32)

RECORD = Record(
    OPERATION,
    COURSE.kind,
    "Installed",
    7,
    "a" * 64,
    1_795_161_600_000,
    1_795_161_600_500,
    {"composer": "1"},
    {"source": "/s/ü.jsonl", "size": 3, "fresh": True},
    (Attempt(1_795_161_600_100, "Staged", "disk-full"),),
    1,
)

texts = st.text(max_size=50)
instants = st.integers(0, 4_000_000_000_000)
codes = st.sampled_from(sorted(CODES))
records = st.builds(
    Record,
    operation_id=st.just(OPERATION),
    kind=st.just(COURSE.kind),
    phase=st.sampled_from(STAGES),
    sequence=st.integers(1, 10**9),
    previous=st.sampled_from(["", "0" * 64]),
    created_at=instants,
    updated_at=instants,
    versions=st.dictionaries(texts, texts, max_size=3),
    facts=st.dictionaries(texts, st.booleans() | st.integers() | texts, max_size=5),
    attempts=st.lists(st.builds(Attempt, instants, st.sampled_from(STAGES), codes), max_size=KEPT_ATTEMPTS).map(tuple),
    attempt_count=st.integers(0, 99),
    closing=st.just("") | codes,
    closed=st.booleans(),
    adopted_from=texts,
    digest=st.just(""),
)


def read_back(data: bytes, keys: Keys | None = KEYS, course: Course = COURSE) -> Record | Refused:
    return decode(data, OPERATION, course, keys)


def code(data: bytes, keys: Keys | None = KEYS, course: Course = COURSE) -> str:
    found = read_back(data, keys, course)
    return found.code if isinstance(found, Refused) else ""


def changed(change: Callable[[dict[str, Any]], object], *, keys: Keys | None = KEYS) -> bytes:
    """Write a record with a change, signed anew by the keys given, or not at all."""
    fields = json.loads(encode(RECORD, KEYS))
    change(fields)
    if keys is not None:
        fields.pop("mac")
        fields["keyId"] = keys.key_id
        fields["mac"] = sign(keys, PURPOSE, dumps(fields).encode())
    return json.dumps(fields).encode()


def put(delivery: Delivery, data: bytes, name: str = OPERATION) -> str:
    """Put a file into the journal."""
    folder = delivery.path(".journal", "operations")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{name}.json")
    with open(path, "wb") as file:
        file.write(data)
    return path


@settings(max_examples=200)
@given(records)
def test_what_is_written_is_read_back(record: Record) -> None:
    """Every field, whatever the texts; the digest is that of the file."""
    found = read_back(encode(record, KEYS))
    assert isinstance(found, Record)
    assert found._replace(digest="") == record
    assert len(found.digest) == 64


def test_a_torn_record_is_damaged_wherever_it_ends() -> None:
    """Every length but the whole one; the last newline alone may be missing."""
    data = encode(RECORD, KEYS)
    assert {code(data[:length]) for length in range(len(data) - 1)} == {"journal-damaged"}
    assert {code(data[:length] + b"\0" * (len(data) - length)) for length in range(0, len(data) - 1, 7)} == {
        "journal-damaged"
    }


def test_no_changed_byte_goes_unnoticed() -> None:
    """Every byte, changed in two ways: the record does not count, or it says exactly the same."""
    data = encode(RECORD, KEYS)
    same = read_back(data)
    assert isinstance(same, Record)
    for at in range(len(data)):
        for other in (data[at] ^ 1, data[at] ^ 32):
            found = read_back(data[:at] + bytes([other]) + data[at + 1 :])
            if isinstance(found, Record):
                assert found._replace(digest="") == same._replace(digest="")
            else:
                assert found.code in CODES


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_get_a_code(data: bytes) -> None:
    """Never an exception."""
    assert code(data) in CODES


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"7",
        b'"text"',
        b"{}",
        b'{"schema":7}',
        b"[" * 100_000,
        b'{"schema":"context-operation-v1","sequence":' + b"9" * 5000 + b"}",
        b'{"schema":"context-operation-v1","facts":{"x":NaN}}',
        b'{"schema":"context-operation-v1","keyId":[],"mac":{}}',
        b"\xff\xfe{}",
    ],
    ids=lambda data: data[:20].decode("latin-1"),
)
def test_what_is_no_record_is_damaged(data: bytes) -> None:
    """JSON of any other form, too deep, too large, or none."""
    assert code(data) == "journal-damaged"


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields.update(sequence=0),
        lambda fields: fields.update(sequence="7"),
        lambda fields: fields.update(sequence=7.5),
        lambda fields: fields.update(closed=0),
        lambda fields: fields.update(more=1),
        lambda fields: fields.pop("facts"),
        lambda fields: fields["facts"].update(nested={}),
        lambda fields: fields["facts"].update(long="x" * 5000),
        lambda fields: fields["facts"].update(part=0.5),
        lambda fields: fields.update(createdAt="yesterday"),
        lambda fields: fields.update(createdAt="2026-99-99T00:00:00.000Z"),
        lambda fields: fields.update(previous="x"),
        lambda fields: fields.update(closing="No Code"),
        lambda fields: fields.update(attempts=[{"at": fields["createdAt"], "phase": "Staged", "code": "x", "more": 1}]),
    ],
)
def test_even_our_signature_does_not_make_a_record_of_another_form(change: Callable[[dict[str, Any]], object]) -> None:
    """The model is strict: no unknown field, no other type, no text without end."""
    assert code(changed(change)) == "journal-damaged"


def test_each_kind_of_stranger_has_its_own_code() -> None:
    """Edited, unsigned, foreign and of another version are told apart; only the two in the middle carry a claim."""
    edited = changed(lambda fields: fields.update(phase="Verified"), keys=None)
    unsigned = changed(lambda fields: (fields.pop("mac"), fields.pop("keyId")), keys=None)
    without_mac = changed(lambda fields: fields.pop("mac"), keys=None)
    foreign = changed(lambda fields: fields, keys=OTHERS)
    newer = changed(lambda fields: fields.update(schema="context-operation-v2", anything=[]))
    assert [code(data) for data in (edited, unsigned, without_mac, foreign, newer)] == [
        "journal-edited",
        "journal-unsigned",
        "journal-unsigned",
        "journal-foreign",
        "journal-version",
    ]
    for data, signer in ((unsigned, "unsigned"), (foreign, OTHERS.key_id)):
        found = read_back(data)
        assert isinstance(found, Refused)
        assert found.claim is not None
        assert (found.claim.phase, found.signer) == ("Installed", signer)
    assert code(encode(RECORD, KEYS), keys=None) == "journal-foreign"


def test_a_name_that_claims_our_key_does_not_make_it_ours() -> None:
    """Another key's MAC under our key's name is an edit, not a foreign record."""
    data = json.loads(changed(lambda fields: fields, keys=OTHERS))
    data["keyId"] = KEYS.key_id
    assert code(json.dumps(data).encode()) == "journal-edited"


def test_a_record_of_another_course_or_name_does_not_count() -> None:
    """A stage or kind that we do not know is another version's; a sound record under another's name is an edit."""
    assert code(encode(RECORD, KEYS), course=Course("other", STAGES, "Activated")) == "journal-version"
    assert code(encode(RECORD, KEYS), course=COURSE._replace(stages=("Prepared", "Activated"))) == "journal-version"
    found = decode(encode(RECORD, KEYS), "delivery_2", COURSE, KEYS)
    assert isinstance(found, Refused)
    assert found.code == "journal-edited"


def test_a_record_is_plain_json_that_a_person_can_read(delivery: Delivery) -> None:
    """Instants, phase, sequence and facts by name; file and folders are for the owner alone."""
    delivery.run()
    path = delivery.path(".journal", "operations", f"{OPERATION}.json")
    fields = json.loads(delivery.tree()[f".journal/operations/{OPERATION}.json"].data)
    assert (fields["phase"], fields["sequence"], fields["createdAt"]) == ("Verified", 6, "2026-11-20T08:00:00.002Z")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert {
        stat.S_IMODE(os.stat(delivery.path(*names)).st_mode) for names in [(".journal",), (".journal", "operations")]
    } == {0o700}


def test_what_is_too_large_is_never_written() -> None:
    """A record is metadata; a step that would put more into it is a defect."""
    facts = {f"fact {number}": "x" * 4000 for number in range(80)}
    with pytest.raises(ValueError, match="too large"):
        encode(RECORD._replace(facts=facts), KEYS)
    with pytest.raises(ValueError, match="4096"):
        encode(RECORD._replace(facts={"text": "x" * 5000}), KEYS)


@pytest.mark.parametrize("kind", ["folder", "link", "fifo", "large"])
def test_what_is_no_plain_file_is_damaged(delivery: Delivery, kind: str) -> None:
    """Nothing is followed, waited for or read without end."""
    path = put(delivery, encode(RECORD, KEYS), "other")
    place = path.replace("other.json", f"{OPERATION}.json")
    match kind:
        case "folder":
            os.mkdir(place)
        case "link":
            os.symlink(path, place)
        case "fifo":
            os.mkfifo(place)
        case _:
            with open(place, "wb") as file:
                file.truncate(LARGEST + 1)
    assert read(delivery.journal, OPERATION) == SetAside(OPERATION, "journal-damaged")


def test_strangers_are_listed_and_never_touched(delivery: Delivery) -> None:
    """Recovering, abandoning and beginning anew are refused with the code; the bytes and inodes stay."""
    strangers = {
        "damaged": b"{",
        "edited": changed(lambda fields: fields.update(operationId="edited", phase="Verified"), keys=None),
        "foreign": changed(lambda fields: fields.update(operationId="foreign"), keys=OTHERS),
        "unsigned": changed(lambda fields: (fields.pop("mac"), fields.update(operationId="unsigned")), keys=None),
        "version": changed(lambda fields: fields.update(operationId="version", schema="context-operation-v9")),
    }
    for name, data in strangers.items():
        put(delivery, data, name)
    before = delivery.without_lock()
    for act in (delivery.recover, delivery.abandon):
        for name in strangers:
            with pytest.raises(ContextError) as refused:
                act(name)
            assert refused.value.code == f"journal-{name}"
            with pytest.raises(ContextError) as taken:
                delivery.run(name)
            assert taken.value.code == "operation-exists"
    assert [found[:2] for found in listed(delivery.journal)] == [
        (name, f"journal-{name}") for name in sorted(strangers)
    ]
    assert delivery.without_lock() == before


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "A", "x" * 101, "a.json", "ä", "a\n", "-a"])
def test_what_can_be_no_id_is_unknown(delivery: Delivery, name: str) -> None:
    """An id never names a file elsewhere."""
    delivery.run()
    with pytest.raises(ContextError) as refused:
        find(delivery.journal, name)
    assert refused.value.code == "operation-unknown"


def test_the_list_is_by_age(delivery: Delivery) -> None:
    """Oldest first, whatever the ids; a journal that is not there is an empty list."""
    assert listed(Journal(delivery.path("nowhere"), COURSE, None)) == []
    for name in ("c", "a", "b"):
        delivery.run(name)
    assert [found.operation_id for found in listed(delivery.journal)] == ["c", "a", "b"]
