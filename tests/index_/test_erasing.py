"""What was deleted leaves the files of the index for good; what was redacted never reaches them.

FTS5 compresses the beginnings of words, so the ends of unique words are looked for, in every byte of every file.
"""

import os
import random

import pytest
from children import HOLD, finished, go_on, started
from index_rows import compare_with_rebuild
from logs import Value, call, entry, header, lines, message, talk
from worlds import World, bytes_at_rest

from index import opening
from index.erasing import is_pending
from index.sql import run, transaction, value
from privacy.redaction import redact
from privacy.secrets.examples import made as made_secret

TAIL = 6


def unique_words(seed: int, count: int) -> list[str]:
    """Give words that are in no other text, each with an end of its own."""
    rng = random.Random(seed)
    return ["".join(rng.choices("bcdfghjklmnpqrstvwxz", k=14)) for _ in range(count)]


def left_over(made: World, words: list[str]) -> list[str]:
    """Give those words whose end is found anywhere in the folder of the index."""
    data = bytes_at_rest(made.index_folder)
    return [word for word in words if word[-TAIL:].encode() in data]


def telling(words: list[str]) -> list[Value]:
    """Make entries that hold words in every place that the index keeps words of: text, arguments, tools, names."""
    said = talk(6, lambda number: " ".join(words[number * 4 - 2 : number * 4 + 4]))
    return [
        *said,
        call(7, 6, words[28], path=f"src/{words[29]}.py"),
        entry("session_info", 8, 7, name=words[30]),
        entry("custom_message", 9, 8, customType="note", content=words[31], display=True),
    ]


def deleted_by_deletion(made: World) -> None:
    """Delete the file."""
    made.delete("s")


def deleted_by_truncation(made: World) -> None:
    """Empty the file."""
    made.write("s", b"")


def deleted_by_replacement(made: World) -> None:
    """Put another session in the place of the file."""
    made.replace("s", lines(header(identity="s"), message(1, None, "nothing of the kind")))


@pytest.mark.parametrize("delete", [deleted_by_deletion, deleted_by_truncation, deleted_by_replacement])
@pytest.mark.parametrize("others", [0, 1, 200])
def test_nothing_of_what_was_deleted_stays_in_any_byte(made: World, delete: object, others: int) -> None:
    """After a deletion and an update no end of any word is in the database, its write-ahead log or elsewhere."""
    words = unique_words(1, 32)
    made.log("s", *telling(words), cwd=f"/home/dev/{words[0]}", identity=words[1])
    made.log("t", *talk(others, lambda number: f"another {number} " + " ".join(unique_words(1000 + number, 5))))
    made.update()
    assert left_over(made, words) == words, "the words were never there"
    delete(made)  # type: ignore[operator]
    made.update()
    assert left_over(made, words) == []
    with made.index() as db:
        assert not is_pending(db)
    compare_with_rebuild(made)


def test_nothing_stays_when_sessions_come_and_go_in_many_small_steps(made: World) -> None:
    """Words that went through many segments and merges leave all the same."""
    words = unique_words(2, 60)
    made.log("t", message(1, None, "the other session"))
    made.log("s", message(1, None, "begin"))
    for number, word in enumerate(words):
        made.append("s", lines(message(number + 2, number + 1, f"{word} and more")))
        if number % 3 == 0:
            made.append("t", lines(message(number + 2, number + 1, f"between {number}")))
        made.update(thorough=False)
    made.delete("s")
    made.update()
    assert left_over(made, words) == []
    compare_with_rebuild(made)


def test_a_deleted_session_is_not_found_before_it_is_erased(made: World) -> None:
    """From the moment of its deletion a session is found by no search, whatever the index still holds."""
    made.values["historyTools.allowProjectScope"] = True
    made.log("s", message(1, None, "okapi one"))
    made.log("t", message(1, None, "okapi two"))
    made.session = "t"
    made.update()
    assert len(made.found("okapi", scope="project")) == 2
    made.delete("s")
    answer = made.search("okapi", scope="project")
    assert [hit["sessionId"] for hit in answer["hits"]] == ["t"]
    assert answer["status"] == "complete"
    made.owner = True
    assert [hit["sessionId"] for hit in made.search("okapi", scope="everywhere")["hits"]] == ["t"]


def test_a_reader_delays_erasure_and_the_next_update_makes_up_for_it(made: World) -> None:
    """While a reader holds an old snapshot the erasure is pending and told as such; afterwards it is done."""
    words = unique_words(3, 32)
    made.log("s", *telling(words))
    made.log("t", message(1, None, "the other session"))
    made.session = "t"
    made.update()
    reader = started(HOLD, made.index_folder, "begin; select count(*) from entry")
    made.delete("s")
    made.update()
    with made.index() as db:
        assert is_pending(db)
    assert made.status()["index"]["pendingErase"] is True
    assert left_over(made, words) != []
    finished(go_on(reader))
    made.update()
    assert left_over(made, words) == []
    assert made.status()["index"]["pendingErase"] is False


def test_a_process_that_dies_while_it_erases_leaves_the_erasure_pending(
    made: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An erasure counts as done only when its last step is: cut short, the next update does it again."""
    words = unique_words(4, 32)
    made.log("s", *telling(words))
    made.update()
    made.delete("s")
    with monkeypatch.context() as patch:
        patch.setattr("index.erasing._truncate_log", lambda db: (_ for _ in ()).throw(KeyboardInterrupt))  # noqa: ARG005
        with pytest.raises(KeyboardInterrupt):
            made.update()
    with made.index() as db:
        assert is_pending(db)
    made.update()
    assert left_over(made, words) == []


def test_what_is_deleted_while_an_erasure_runs_is_erased_too(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deletion by another process between the merge and the mark is not taken for erased."""
    from index import erasing
    from index.writing import cursor, forget

    words = unique_words(5, 32)
    made.log("s", message(1, None, "gone"))
    made.log("t", *telling(words))
    made.update()
    real = erasing._truncate_log

    def meanwhile(db: object) -> bool:
        monkeypatch.setattr(erasing, "_truncate_log", real)
        other = opening.open_writer(made.index_folder)
        assert other is not None
        with transaction(other):
            at = cursor(other, made.path("t"))
            assert at is not None
            forget(other, at.sid)
        other.close()
        return real(db)  # type: ignore[arg-type]

    monkeypatch.setattr(erasing, "_truncate_log", meanwhile)
    made.delete("s")
    made.update()
    with made.index() as db:
        assert is_pending(db)
    made.delete("t")
    made.update()
    assert left_over(made, words) == []


def test_a_rebuild_leaves_nothing_of_what_was_deleted(made: World) -> None:
    """After a rebuild the old generation is gone with every word in it."""
    words = unique_words(6, 32)
    made.log("s", *telling(words))
    made.log("t", message(1, None, "the other session"))
    made.update()
    made.delete("s")
    made.rebuild()
    assert left_over(made, words) == []


KINDS = (
    "AWS_SECRET_ACCESS_KEY={b64:40}",
    "password: {an:20}",
    "token ghp_{an:36} end",
    "postgres://app:{an:18}@db.example/x",
    "Authorization: Bearer {an:40}",
    "{pem:RSA }",
    "xoxb-{dec:12}-{dec:12}-{an:24}",
)


def test_secrets_in_logs_never_reach_the_index(made: World) -> None:
    """Secrets in texts, arguments, tool names and session names: no end of any is in any byte of the index."""
    secrets: list[str] = []
    entries: list[Value] = []
    for number, kind in enumerate(KINDS, 1):
        text = made_secret(kind).text
        found = redact(text).text  # type: ignore[arg-type]
        assert found != text, kind
        secrets += [piece for piece in text.split() if piece not in found.split() and len(piece) > 15]
        entries += [
            message(number * 10, None, f"before {text} after", "toolResult"),
            call(number * 10 + 1, number * 10, "bash", command=f"export {text}", env={"nested": [text]}),
            call(number * 10 + 2, number * 10, text, command="ls"),
            entry("session_info", number * 10 + 3, number * 10, name=f"about {text}"),
            message(number * 10 + 4, None, "", content=text),
            entry("message", number * 10 + 5, None, message={"role": "bashExecution", "command": text, "output": text}),
            entry("compaction", number * 10 + 6, None, summary=text, firstKeptEntryId="x"),
            entry("message", number * 10 + 7, None, message={"role": "assistant", "content": [
                {"type": "thinking", "thinking": text}, {"type": "text", "text": text}]}),
        ]  # fmt: skip
    made.log("s", *entries)
    made.update()
    made.search("before after")
    data = bytes_at_rest(made.index_folder)
    assert len(secrets) >= 12
    for secret in secrets:
        tail = secret.removesuffix("@db.example/x").rstrip("=-.,;:")[-8:]
        assert tail.encode() not in data, tail
        assert tail.lower().encode() not in data, tail
    with made.index() as db:
        assert value(db, "select count(*) from entry") == len(entries)


def test_thinking_images_and_details_never_reach_the_index(made: World) -> None:
    """What is never searched is not in the index either: thinking, signatures, image data, details, private state."""
    words = unique_words(7, 6)
    blocks = [
        {"type": "thinking", "thinking": words[0], "thinkingSignature": words[1]},
        {"type": "image", "data": words[2], "mimeType": "image/png"},
        {"type": "text", "text": "said", "textSignature": words[3]},
    ]
    made.log(
        "s",
        entry("message", 1, None, message={"role": "assistant", "content": blocks}),
        entry("message", 2, 1, message={"role": "toolResult", "content": [], "details": {"x": words[4]}}),
        entry("custom", 3, 2, customType="other", data={"x": words[5]}),
    )
    made.update()
    assert left_over(made, words) == []


def test_a_forgotten_session_of_a_file_that_is_a_folder_now_is_erased(made: World) -> None:
    """A path that is no file any more holds no session, whatever else has come to lie there."""
    words = unique_words(8, 32)
    made.log("s", *telling(words))
    made.update()
    made.delete("s")
    os.mkdir(made.path("s"))
    try:
        made.update()
        assert left_over(made, words) == []
        with made.index() as db:
            assert value(db, "select count(*) from session") == 0
            run(db, "pragma integrity_check")
    finally:
        os.rmdir(made.path("s"))
