"""A resolved context equals what the real Pi 1.6.0 makes of the same file, rule by rule and byte by byte."""

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from resolved_contexts import edited, refusal, resolved, texts
from session_logs import MILLIS, NAMES, chain, entry, genuine, header, line, log, said, save

from foundation.canonical import dumps
from foundation.errors import ContextError
from sessions.context import Context, resolve
from sessions.javascript import stringify
from sessions.loading import load

MIGRATED = "20-v1-raw"


def digest(messages: list[Any]) -> str:
    return hashlib.sha256(stringify(messages).encode()).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_genuine_sessions_resolve_as_in_pi(name: str) -> None:
    """Messages, level, model and leaf are those of the real SDK, and the messages byte for byte."""
    path, told = genuine(name)
    found = resolve(path)
    assert found.messages == told["messages"]
    assert digest(found.messages) == told["messagesSha256"]
    assert (found.session_id, found.thinking_level, found.model) == (
        told["sessionId"],
        told["thinkingLevel"],
        told["model"],
    )
    if name != MIGRATED:
        assert found.leaf_id == told["leafId"]
    assert len(found.sources) == len(found.messages)


@pytest.mark.parametrize("name", [name for name in NAMES if name != MIGRATED])
def test_every_leaf_of_genuine_sessions_resolves_as_in_pi(name: str) -> None:
    """Also what lies on other branches equals the real SDK's answer, byte for byte."""
    path, told = genuine(name)
    for leaf in told["leaves"]:
        if isinstance(leaf.get("leafId"), str):
            found = resolve(path, leaf=leaf["leafId"])
            assert digest(found.messages) == leaf["sha256"], leaf["leafId"]
            assert (found.thinking_level, found.model) == (leaf["thinkingLevel"], leaf["model"])


def test_every_leaf_of_version_one_resolves_as_in_pi() -> None:
    """Where ids differ from reading to reading in Pi, the order of the entries says which leaf is which."""
    path, told = genuine(MIGRATED)
    for at, leaf in enumerate(told["leaves"]):
        assert digest(resolve(path, leaf=f"n{at + 1:07x}").messages) == leaf["sha256"]


def test_each_message_names_the_entry_that_it_comes_from() -> None:
    """The projection of the real SDK has the same entries with the same number of messages."""
    for name in NAMES:
        path, told = genuine(name)
        if name != MIGRATED:
            expected = [item["id"] for item in told["projection"] for _ in range(item["messages"])]
            assert list(resolve(path).sources) == expected


def test_an_empty_session_has_an_empty_context(tmp_path: Path) -> None:
    """A header alone is a session in which nothing was said."""
    assert resolved(tmp_path, header()) == Context("s-1", None, "off", None, [], ())


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [b""],
        [b"junk"],
        [said("a", None, "x"), header()],
        [b"5", header()],
        [b"[]", header()],
        [header(id=5)],
        [header(id=None)],
        [b"\xef\xbb\xbf" + line(header())],
        [b"\x00" + line(header())],
        [header(version=1), b"5"],
        [header(version=None), b'"text"'],
    ],
)
def test_what_pi_refuses_to_open_is_no_session(tmp_path: Path, lines: list[Any]) -> None:
    """Without a header as the first value Pi opens nothing; nor where its migration stumbles over junk."""
    assert refusal(tmp_path, *lines) == "not-a-session"


@pytest.mark.parametrize("before", [b"junk {", b"null", b"0", b'""', b"false", b"", b"\x00", b"{}{}"])
def test_what_pi_skips_may_stand_before_the_header(tmp_path: Path, before: bytes) -> None:
    """Lines that are no JSON, and values that are false, count for nothing anywhere."""
    assert texts(resolved(tmp_path, before, *chain(1), before)) == ["text 0"]


def test_lines_that_pi_skips_are_not_in_its_context(tmp_path: Path) -> None:
    """Recall reads glued and padded records, but a context holds only what Pi would send."""
    lines = [*chain(1), line(said("g1", "e0", "glued")) * 2, b"\x00" + line(said("p", "e0", "padded"))]
    assert texts(resolved(tmp_path, *lines)) == ["text 0"]
    assert refusal(tmp_path, *lines, leaf="p") == "entry-not-found"


def test_junk_at_the_end_is_the_leaf_and_empties_the_context(tmp_path: Path) -> None:
    """Pi keeps numbers and lists as entries without id or parent, so the branch ends there."""
    for junk in (b"42", b'"x"', b"true", b"[]"):
        found = resolved(tmp_path, *chain(2), junk)
        assert (found.messages, found.leaf_id) == ([], None)
    assert texts(resolved(tmp_path, *chain(2), b"42", said("z", "e1", "on"))) == ["text 0", "text 1", "on"]


def test_a_null_id_at_the_end_empties_the_context(tmp_path: Path) -> None:
    """For Pi a leaf of null means before the first entry, with nothing set."""
    lines = [*chain(1), entry("t", "e0", "thinking_level_change", thinkingLevel="high")]
    found = resolved(tmp_path, *lines, {**said("x", "t", "y"), "id": None})
    assert (found.leaf_id, found.messages, found.thinking_level) == (None, [], "off")


@pytest.mark.parametrize("identity", ["missing", "", 0, False, 7, [], {"a": 1}])
def test_an_entry_with_an_odd_id_at_the_end_is_the_leaf(tmp_path: Path, identity: Any) -> None:
    """Without a usable id the last entry still is where Pi goes on from."""
    last = {**said("x", "e0", "last"), "id": identity}
    if identity == "missing":
        del last["id"]
    assert texts(resolved(tmp_path, *chain(1), last)) == ["text 0", "last"]


def test_ids_compare_as_keys_of_a_map(tmp_path: Path) -> None:
    """The number 5 is no text, and no object is the parent of anything."""
    number, text = {**said("x", None, "number"), "id": 5}, said("5", None, "text")
    assert texts(resolved(tmp_path, header(), number, text, {**said("z", None, "z"), "parentId": 5.0})) == [
        "number",
        "z",
    ]
    assert texts(resolved(tmp_path, header(), number, text, said("z", "5", "z"))) == ["text", "z"]
    for nothing in (0, "", False, None):
        zero = {**said("x", None, "zero"), "id": nothing}
        assert texts(resolved(tmp_path, header(), zero, {**said("z", None, "z"), "parentId": nothing})) == ["z"]
    listed = {**said("x", None, "x"), "id": [1]}
    assert texts(resolved(tmp_path, header(), listed, {**said("z", None, "z"), "parentId": [1]})) == ["z"]


def test_of_two_entries_with_one_id_the_later_counts(tmp_path: Path) -> None:
    """A parent link leads to the last entry of that id, wherever it stands in the file."""
    lines = [header(), said("a", None, "old"), said("b", "a", "b"), said("a", None, "new")]
    assert texts(resolved(tmp_path, *lines, leaf="b")) == ["new", "b"]


def test_a_circle_of_parents_is_refused(tmp_path: Path) -> None:
    """Where Pi would walk for ever there is a code of its own, and other leaves still resolve."""
    lines = [*chain(1), said("a", "b", ""), said("b", "a", "")]
    assert refusal(tmp_path, *lines) == "entry-cycle"
    assert refusal(tmp_path, header(), said("a", "a", "")) == "entry-cycle"
    assert texts(resolved(tmp_path, *lines, leaf="e0")) == ["text 0"]


@pytest.mark.parametrize("message", [None, "missing"])
def test_a_message_entry_without_a_message_is_refused(tmp_path: Path, message: Any) -> None:
    """Where Pi itself fails there is a code of its own."""
    broken = entry("m", "e0", "message", message=message)
    if message == "missing":
        del broken["message"]
    assert refusal(tmp_path, *chain(1), broken) == "entry-broken"
    assert texts(resolved(tmp_path, *chain(1), broken, leaf="e0")) == ["text 0"]


@pytest.mark.parametrize("message", ["text", 5, False, 0, "", [], [1], {}])
def test_a_message_of_a_wrong_type_is_passed_on(tmp_path: Path, message: Any) -> None:
    """What Pi does not look into it sends as it is."""
    assert resolved(tmp_path, header(), entry("m", None, "message", message=message)).messages == [message]


@pytest.mark.parametrize(
    ("role", "content"), [("system", ""), ("user", []), ("assistant", []), ("toolResult", []), ("custom", None)]
)
def test_missing_content_becomes_empty(tmp_path: Path, role: str, content: Any) -> None:
    """Null content is what the role allows for empty; of a custom message it stays null."""
    assert resolved(tmp_path, header(), said("m", None, "", role, content=None)).messages[0]["content"] == content


def test_version_one_is_a_chain_with_kept_positions(tmp_path: Path) -> None:
    """The index counts every value of the file, headers and lists included; what it cannot mean keeps nothing."""
    old = [header(version=None), b"[]", said("x", "gone", "A"), header(), said("x", None, "B")]
    for index, expected in [
        (2, ["S", "A", "B"]), (2.0, ["S", "A", "B"]), (4, ["S", "B"]), (3, ["S"]), (0, ["S"]), (5, ["S"]), (6, ["S"]),
        (-1, ["S"]), (1.5, ["S"]), (99, ["S"]), ("2", ["S"]), (True, ["S"]), (None, ["S"]), (10**400, ["S"]),
    ]:  # fmt: skip
        compaction = entry("c", None, "compaction", summary="S", firstKeptEntryIndex=index, firstKeptEntryId="x")
        assert texts(resolved(tmp_path, *old, compaction)) == expected, index


def test_ids_of_version_one_mean_nothing(tmp_path: Path) -> None:
    """Pi gives new ids, so an edit that names an old one finds no target."""
    lines = edited("user", None)
    del lines[0]["version"]
    assert texts(resolved(tmp_path, *lines)) == ["old"]


@pytest.mark.parametrize("version", [None, 1, 2, 2.5, "2", True])
def test_older_roles_are_renamed(tmp_path: Path, version: Any) -> None:
    """Before version 3 a custom message had another name; from then on that name is foreign."""
    old = {**header(), "version": version}
    assert resolved(tmp_path, old, said("m", None, "x", "hookMessage")).messages[0]["role"] == "custom"
    assert resolved(tmp_path, header(), said("m", None, "x", "hookMessage")).messages[0]["role"] == "hookMessage"


def test_an_unterminated_last_line_counts(tmp_path: Path) -> None:
    """As in Pi, a complete line is an entry also before its newline is written; half a line is none."""
    assert texts(resolved(tmp_path, *chain(1), end=line(said("z", "e0", "tail")))) == ["text 0", "tail"]
    assert texts(resolved(tmp_path, *chain(1), end=b'{"type":"message"')) == ["text 0"]


def test_values_come_out_as_javascript_writes_them(tmp_path: Path) -> None:
    """Numbers are rounded to doubles, bad bytes replaced, repeated keys merged, and the answer can be written."""
    raw = line(said("m", "e0", "T", extra="N")).replace(b'"T"', b'"a\xff\\ud800b"')
    raw = raw.replace(b'"N"', b'{"b":1e400,"2":-0,"1":9007199254740993,"b":1.0,"s":1e-7}')
    message = resolved(tmp_path, *chain(1), raw).messages[1]
    assert stringify(message["extra"]) == '{"1":9007199254740992,"2":0,"b":1,"s":1e-7}'
    assert dumps(message["content"]) == '[{"type":"text","text":"a\ufffd\\ud800b"}]'


def test_an_entry_nested_beyond_pythons_parsers_is_in_the_context(tmp_path: Path) -> None:
    """Depth costs neither the entry nor its branch."""
    raw = line(said("m", "e0", "T", extra="N")).replace(b'"N"', b"[" * 3000 + b"]" * 3000)
    found = resolved(tmp_path, *chain(1), raw)
    written = stringify(found.messages[1])
    assert written.endswith(f'"timestamp":{MILLIS},"extra":{"[" * 3000}{"]" * 3000}}}')


def test_a_leaf_is_named_by_the_start_of_its_id(tmp_path: Path) -> None:
    """A whole id wins; nothing and several are told apart."""
    lines = [header(), said("ab", None, "1"), said("abc", "ab", "2"), said("abd", "ab", "3")]
    assert texts(resolved(tmp_path, *lines, leaf="abd")) == ["1", "3"]
    assert texts(resolved(tmp_path, *lines, leaf="ab")) == ["1"]
    assert refusal(tmp_path, *lines, leaf="a") == "entry-ambiguous"
    assert refusal(tmp_path, *lines, leaf="x") == "entry-not-found"


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the two passes the entries must stay where they were."""
    path = save(tmp_path, log(*chain(2)))

    def load_and_change(*arguments: Any) -> Any:
        found = load(*arguments)
        os.truncate(path, len(log(*chain(2))) - 9)
        return found

    monkeypatch.setattr("sessions.context.load", load_and_change)
    with pytest.raises(ContextError) as refused:
        resolve(path)
    assert refused.value.code == "source-changed"
