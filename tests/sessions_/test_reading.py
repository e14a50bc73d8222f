"""A log is read line by line with exact spans; one bad line never hides the rest, and no line fills the memory."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_sessions import Maker
from session_logs import chain, header, line, log, said, save

from foundation.errors import ContextError
from sessions.decoding import fast_parser, slow_parse
from sessions.reading import LONGEST_RECORD, Record, open_log, records


def read(data: bytes, **options: int) -> list[Record]:
    return list(records(io.BytesIO(data), **options))  # type: ignore[arg-type]


def test_records_come_with_their_lines_and_spans() -> None:
    """A record says the line and the bytes where it stands."""
    data = log(header(), b"", said("a", None, "x"), b"\x00\x00", said("b", "a", "é"))
    found = read(data)
    assert [record.line for record in found] == [1, 3, 5]
    assert [record.value["id"] for record in found if record.value] == ["s-1", "a", "b"]
    assert all(data[record.offset : record.offset + record.length] == record.raw for record in found)


@given(st.integers(0, 10**9), st.booleans())
def test_spans_are_exact_and_sound_lines_survive_any_damage_around_them(seed: int, fast: bool) -> None:
    """Whatever the file holds, reading raises nothing, spans name their bytes, and each sound line is there."""
    noise = Maker(seed).session()
    sound = [line(said(f"sound{at}", None, f"text {at}")) for at in range(3)]
    cut = len(noise) // 2
    data = b"\n".join([noise[:cut], sound[0], noise[cut:], sound[1], b"{half", sound[2], b""])
    found = list(records(io.BytesIO(data), parse=fast_parser() if fast else slow_parse))
    assert all(data[record.offset : record.offset + record.length] == record.raw for record in found)
    assert [record.offset for record in found] == sorted(record.offset for record in found)
    whole = [record.raw for record in found if record.value and not record.mended and not record.torn]
    assert [raw for raw in whole if raw in sound] == sound


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    """No file makes reading raise; every byte that is no white space lies in some record."""
    found = read(data, padding=True)
    covered = b"".join(data[record.offset : record.offset + record.length] for record in found)
    assert {*data} - {*b" \t\r\n\v\f"} - {*covered} <= {*"\u00a0\u2028\u2029\ufeff\u3000\u1680".encode()}


@given(st.integers(0, 10**9), st.lists(st.integers(1, 400), min_size=1, max_size=30))
def test_a_growing_file_read_in_any_steps_gives_the_same_records(seed: int, steps: list[int]) -> None:
    """Reading on from the last complete line, however the file grew, adds up to reading it once."""
    data = Maker(seed).session() + b"\n"
    whole = read(data)
    parts: list[Record] = []
    offset, number, size = 0, 1, 0
    for step in [*steps, len(data)]:
        size = min(len(data), size + step)
        complete = data[:size].rfind(b"\n") + 1
        parts += [record for record in read(data[:size], offset=offset, line=number) if record.offset < complete]
        number += data[offset:complete].count(b"\n")
        offset = complete
    assert [(*part[:4], part.value is None, *part[5:]) for part in parts] == [
        (*once[:4], once.value is None, *once[5:]) for once in whole
    ]


def test_the_bytes_after_the_last_newline_are_a_torn_tail() -> None:
    """A line still being written is told apart from damage, also where it is complete already."""
    half, complete = read(log(header()) + b'{"type":'), read(log(header()) + line(said("a", None, "x")))
    assert (half[-1].torn, half[-1].problem, half[-1].value) == (True, "invalid-json", None)
    assert (complete[-1].torn, complete[-1].problem, complete[-1].value is None) == (True, "", False)


def test_a_tail_of_nuls_is_reported_and_hides_nothing() -> None:
    """The NULs that a power loss leaves behind do not cost the session."""
    found = read(log(*chain(2)) + b"\x00" * 1728)
    assert [record.problem for record in found] == ["", "", "", "padding"]
    assert (found[-1].torn, found[-1].length) == (True, 1728)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b"{broken", "invalid-json"),
        (b"42", "not-an-object"),
        (b"null", "not-an-object"),
        (b"[]", "not-an-object"),
        (b"{}7", "not-an-object"),
        (b'{"a":NaN}', "invalid-json"),
        (b'{"a":' + b"[" * 6000 + b"]" * 6000 + b"}", "nested-too-deep"),
        (b"\xff\xfe", "invalid-json"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_read(bad: bytes, problem: str) -> None:
    """One bad line costs itself alone and says why."""
    found = read(log(header(), bad, said("a", None, "x")))
    assert [record.problem for record in found] == ["", problem, ""]
    assert (found[1].line, found[1].raw, found[1].value) == (2, bad, None)


def test_carriage_returns_belong_to_the_line() -> None:
    """A span covers the line without its newline, but with the carriage return before it."""
    assert [record.raw for record in read(b"{}\r\n{}\r\n")] == [b"{}\r", b"{}\r"]


def test_only_newlines_end_a_line() -> None:
    """U+2028, U+0085 and form feeds inside a text do not break its record in two."""
    value = said("a", None, "one\u2028two\u0085three\x0cfour")
    assert [record.value for record in read(log(value))] == [value]


def test_mended_lines_say_so() -> None:
    """Records that Pi skips are read all the same and can be told from those that it reads."""
    data = log(b"\xef\xbb\xbf" + line(header()), b"\x00" + line(said("a", None, "x")), b'{"id":"b"}{"id":"c"}', b"{}")
    assert [record.mended for record in read(data)] == ["bom", "padding", "glued", "glued", ""]


def test_lines_of_nuls_are_passed_over_unless_asked_for() -> None:
    """Padding between lines is nothing to index but something to report; blank lines are neither."""
    data = log(b"{}", b"\x00\x00", b"  ", b"\xef\xbb\xbf", b"{}")
    assert [record.problem for record in read(data)] == ["", ""]
    assert [(record.line, record.problem) for record in read(data, padding=True)] == [
        (1, ""),
        (2, "padding"),
        (4, "padding"),
        (5, ""),
    ]


@pytest.mark.parametrize("ending", [b"\n", b""])
@pytest.mark.parametrize("size", [99, 100, 101, 102, 250])
def test_a_line_is_read_up_to_the_limit_and_passed_over_beyond_it(size: int, ending: bytes) -> None:
    """The limit is exact; the line after an over-long one starts where it should."""
    long = b'{"a":"' + b"x" * (size - 8) + b'"}'
    found = read(log(b"{}") + long + ending + (b"{}\n" if ending else b""), longest=100)
    assert (found[1].offset, found[1].length, found[1].torn) == (3, size, not ending)
    assert found[1].problem == ("record-too-large" if size > 100 else "")
    assert found[1].raw == (b"" if size > 100 else long)
    if ending:
        assert (found[2].line, found[2].offset, found[2].raw) == (3, 3 + size + 1, b"{}")


def test_the_limit_of_a_record_is_thirty_two_mebibytes() -> None:
    """Lines up to 32 MiB are read, longer ones are quarantined."""
    assert LONGEST_RECORD == 32 * 1024 * 1024


def test_opening_names_what_is_wrong(tmp_path: Path) -> None:
    """A missing file, a folder and a pipe are refused by name, and a pipe without waiting for a writer."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"")
    os.symlink("loop", tmp_path / "loop")
    for name, code in [
        ("none", "file-missing"),
        ("file/below", "file-missing"),
        (".", "not-a-file"),
        ("pipe", "not-a-file"),
        ("loop", "file-unreadable"),
        ("nul\0", "file-unreadable"),
        ("x" * 300, "file-unreadable"),
    ]:
        with pytest.raises(ContextError) as refused:
            open_log(os.path.join(tmp_path, name))
        assert refused.value.code == code, name


def test_a_log_that_may_not_be_read_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing permission is told apart from a missing file."""

    def refuse(*_: object) -> int:
        raise PermissionError(13, "no")

    path = save(tmp_path, b"{}\n")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ContextError) as refused:
        open_log(path)
    assert refused.value.code == "file-unreadable"


_MEASURED = """
import resource, sys
from sessions.decoding import fast_parser, slow_parse
from sessions.reading import open_log, records
fast_parser()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = [(r.problem, r.length) for r in records(open_log(sys.argv[1]), parse=fast_parser())]
print(found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("filling", [b"x", b"\x00", b"["])
def test_a_line_of_a_hundred_megabytes_never_fills_the_memory(tmp_path: Path, filling: bytes) -> None:
    """Memory is bounded by the longest line that is accepted, not by the longest there is."""
    path = save(tmp_path, b"{}\n" + filling * 100_000_000 + b"\n{}\n")
    run = subprocess.run(
        [sys.executable, "-c", _MEASURED, path], capture_output=True, text=True, check=True, cwd=os.getcwd()
    )
    found, _, grown = run.stdout.strip().rpartition(" ")
    assert found == "[('', 2), ('record-too-large', 100000000), ('', 2)]"
    assert int(grown) < 100
