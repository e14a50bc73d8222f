"""Sessions are found by folder, file, project or id; only headers decide, and no bad file gets in the way."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from session_logs import chain, header, log, said

from foundation.errors import ContextError
from sessions import locating
from sessions.locating import LogFile, canonical, find_session, newest, read_header, session_files, session_folders


class _Home:
    """An agent folder with sessions in it, newer ones later."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.agent = root / "agent"
        self.project = root / "proj"
        self.project.mkdir()
        self.count = 0

    def put(self, name: str, data: bytes, folder: str = "--x--") -> str:
        path = self.agent / "sessions" / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.count += 1
        os.utime(path, (1_700_000_000 + self.count, 1_700_000_000 + self.count))
        return os.fspath(path)

    def session(self, identity: str, cwd: Any = None, name: str = "", folder: str = "--x--") -> str:
        data = log(header(id=identity, cwd=os.fspath(cwd or self.project)))
        return self.put(name or f"{identity}.jsonl", data, folder)

    def settings(self, where: Path, text: str) -> None:
        where.mkdir(parents=True, exist_ok=True)
        (where / "settings.json").write_text(text)

    def folders(self, override: str | None = None, cwd: Path | None = None) -> locating.Folders:
        return session_folders(
            agent_dir=os.fspath(self.agent),
            override=override,
            cwd=os.fspath(cwd or self.project),
            home=os.fspath(self.root),
        )

    def files(self, override: str | None = None) -> list[LogFile]:
        return session_files(self.folders(override))

    def find(self, wanted: str, **more: str) -> str:
        return find_session(
            wanted, files=self.files(), cwd=os.fspath(self.project), home=os.fspath(self.root), **more
        ).path


@pytest.fixture
def home(tmp_path: Path) -> _Home:
    return _Home(tmp_path)


def refusal(act: Callable[[], Any]) -> ContextError:
    with pytest.raises(ContextError) as refused:
        act()
    return refused.value


def test_by_default_all_project_folders_are_searched(home: _Home) -> None:
    """The folders below `sessions` hold the logs; files beside them and deeper folders do not."""
    home.session("a", folder="--one--")
    home.session("b", folder="--two--")
    home.session("c", folder="--two--/deeper")
    (home.agent / "sessions" / "stray.jsonl").write_bytes(log(header()))
    found = home.folders()
    assert [os.path.basename(path) for path in found.paths] == ["--one--", "--two--"]
    assert not found.flat
    assert [os.path.basename(file.path) for file in session_files(found)] == ["b.jsonl", "a.jsonl"]


def test_an_override_is_one_flat_folder(home: _Home) -> None:
    """What option or environment name holds the logs directly, and wins over every setting."""
    home.settings(home.agent, '{"sessionDir": "/elsewhere"}')
    flat = home.root / "flat"
    flat.mkdir()
    (flat / "a.jsonl").write_bytes(log(header()))
    for override in (os.fspath(flat), "~/flat", "../flat", "../flat/.", f"file://{flat}"):
        found = home.folders(override)
        assert (found.paths, found.flat) == ((os.fspath(flat),), True)
        assert [file.path for file in session_files(found)] == [os.fspath(flat / "a.jsonl")]
    assert home.folders("~").paths == (os.fspath(home.root),)
    assert home.folders("~other/x").paths == (os.fspath(home.project / "~other" / "x"),)


@pytest.mark.parametrize(
    ("glob", "local", "expected"),
    [
        ('{"sessionDir": "/glob"}', None, "/glob"),
        ('{"sessionDir": "/glob"}', '{"sessionDir": "/local"}', "/local"),
        ('{"sessionDir": "/glob"}', '{"other": 1}', "/glob"),
        ('\ufeff{"sessionDir": "/glob"}', "{broken", "/glob"),
        ("[]", '{"sessionDir": "here"}', "PROJECT/here"),
        (None, '{"sessionDir": "~/logs"}', "HOME/logs"),
        ('{"sessionDir": "/glob"}', '{"sessionDir": ""}', None),
        ('{"sessionDir": "/glob"}', '{"sessionDir": null}', None),
        ('{"sessionDir": 5}', None, None),
        ("{broken", None, None),
        (None, None, None),
    ],
)
def test_pis_own_setting_comes_next(home: _Home, glob: str | None, local: str | None, expected: str | None) -> None:
    """The project's `sessionDir` wins over the global one, as read before any trust; damage counts as nothing."""
    if glob is not None:
        home.settings(home.agent, glob)
    if local is not None:
        home.settings(home.project / ".pi", local)
    found = home.folders()
    if expected is None:
        assert not found.flat
    else:
        wanted = expected.replace("PROJECT", os.fspath(home.project)).replace("HOME", os.fspath(home.root))
        assert found == ((wanted,), True)
    assert home.folders("").flat == found.flat


def test_only_regular_files_of_the_right_name_are_listed(home: _Home) -> None:
    """Folders, pipes, broken links, links in a circle and other names are passed over, links to files are not."""
    target = home.session("a", name="a.jsonl.tmp")
    folder = home.agent / "sessions" / "--x--"
    (folder / "b.json").write_bytes(b"{}")
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    os.symlink("nowhere", folder / "broken.jsonl")
    os.symlink("loop.jsonl", folder / "loop.jsonl")
    os.symlink(target, folder / "link.jsonl")
    os.symlink("loop", home.agent / "sessions" / "loop")
    assert [os.path.basename(file.path) for file in home.files()] == ["a.jsonl.tmp"]  # by its canonical path


def test_a_file_that_several_names_lead_to_is_listed_once(home: _Home) -> None:
    """A linked folder or a hard link does not double a session."""
    path = home.session("a", folder="--one--")
    os.symlink(home.agent / "sessions" / "--one--", home.agent / "sessions" / "--two--")
    os.link(path, os.path.join(os.path.dirname(path), "z.jsonl"))
    assert [file.path for file in home.files()] == [path]


def test_files_come_newest_first_in_a_total_order(home: _Home) -> None:
    """The time of the last change decides, then the path."""
    paths = [home.session(name) for name in ("b", "a", "c")]
    os.utime(paths[0], ns=(0, 1_800_000_000_000_000_001))
    os.utime(paths[1], ns=(0, 1_800_000_000_000_000_000))
    os.utime(paths[2], ns=(0, 1_800_000_000_000_000_000))
    assert [file.path for file in home.files()] == paths


@pytest.mark.parametrize("name", ["with space.jsonl", "new\nline.jsonl", "bad\udcff.jsonl", "é索引.jsonl", "-x.jsonl"])
def test_any_file_name_will_do(home: _Home, name: str) -> None:
    """The name is free, also where it is no text."""
    path = home.session("the-id", name=name)
    assert home.find("the-id") == home.find(path) == path


def test_a_missing_folder_has_no_files(home: _Home) -> None:
    """Before the first session there is nothing to list, and no error."""
    assert home.folders().paths == ()
    assert home.files() == home.files(os.fspath(home.root / "none")) == home.files("bad\0name") == []


def test_a_header_is_read_wherever_pi_would_accept_it(home: _Home) -> None:
    """Garbage and blank lines before it, missing newlines and any size are no obstacle."""
    for before in (b"", b"\n\n", b"junk {\n", b"\xef\xbb\xbf", b"\x00\x00", b'{"type":"pr-link"}\n', b"null\n" * 60):
        assert read_header(home.put("a.jsonl", before + log(header()))).id == "s-1"
        assert read_header(home.put("a.jsonl", before + log(header())[:-1])).id == "s-1"
    assert read_header(home.put("a.jsonl", log(header(extra="x" * 3_000_000), said("a", None, "x")))).id == "s-1"


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"junk", b"[]\n", log(said("a", None, "x")), b'{"type":"session"}\n', b"{}\n" * 100 + log(header())],
)
def test_what_has_no_header_is_no_session(home: _Home, data: bytes) -> None:
    """After a bounded search the file is called what it is."""
    path = home.put("a.jsonl", data)
    assert refusal(lambda: read_header(path)).code == "not-a-session"
    assert list(locating.sessions(home.files())) == []


def test_looking_for_a_header_does_not_read_the_whole_file(home: _Home) -> None:
    """Of a large file that is no session only the beginning is looked at."""
    path = home.put("a.jsonl", (b'"' + b"x" * 400_000 + b'"\n') * 10 + log(header()))
    assert refusal(lambda: read_header(path)).code == "not-a-session"


def test_a_folder_name_never_decides(home: _Home) -> None:
    """Two projects whose folders share a name are kept apart, and a file in the wrong folder is found."""
    one, two = home.root / "a-b" / "c", home.root / "a" / "b-c"
    one.mkdir(parents=True)
    two.mkdir(parents=True)
    first, second = home.session("one", one), home.session("two", two)
    third = home.session("three", one, folder="--some-other-project--")
    assert [s.file.path for s in locating.of_project(locating.sessions(home.files()), os.fspath(one))] == [third, first]
    assert newest(home.files(), os.fspath(two)).file.path == second
    assert newest(home.files(), os.fspath(one)).header.id == "three"
    assert refusal(lambda: newest(home.files(), os.fspath(home.root))).code == "no-session"


def test_the_newest_session_is_the_one_written_last(home: _Home) -> None:
    """The time of the file counts, not that of its header."""
    path = home.session("old")
    home.session("new")
    os.utime(path, (1_900_000_000, 1_900_000_000))
    assert newest(home.files(), os.fspath(home.project)).header.id == "old"


def test_a_linked_project_folder_is_its_target(home: _Home) -> None:
    """A session recorded under a link belongs to the folder that it leads to, and the other way round."""
    link = home.root / "link"
    link.symlink_to(home.project)
    home.session("linked", link)
    assert newest(home.files(), os.fspath(home.project)).header.id == "linked"
    home.session("real", home.project)
    assert newest(home.files(), os.fspath(link)).header.id == "real"
    assert newest(home.files(), f"{link}/../link/.//").header.id == "real"


def test_a_project_that_is_gone_is_still_one_project(home: _Home) -> None:
    """A folder that no longer exists is compared by its tidied name."""
    home.session("gone", home.root / "no" / "such" / ".." / "folder")
    assert newest(home.files(), os.fspath(home.root / "no" / "folder")).header.id == "gone"


def test_names_of_folders_are_compared_canonically() -> None:
    """Windows paths compare without case and slashes; what is not absolute or no path equals nothing."""
    assert canonical("C:\\Users\\Dev\\Proj\\") == canonical("c:/users/dev/proj") != ""
    assert canonical("C:\\Users\\Dev") != canonical("D:\\Users\\Dev")
    assert canonical("\\\\host\\share\\Proj") == canonical("\\\\HOST\\share\\proj") != ""
    for odd in ("", "relative/path", ".", "~/proj", "/a\0b", "/" + "a/" * 100_000):
        assert canonical(odd) == ""
    assert canonical("/\ud83d") != canonical("/proj")


def test_an_empty_cwd_belongs_to_no_project(home: _Home) -> None:
    """A session without a folder is in no project, not even in one without a name."""
    home.put("a.jsonl", log(header(cwd=None)))
    assert refusal(lambda: newest(home.files(), "")).code == "no-session"
    assert refusal(lambda: newest(home.files(), os.fspath(home.project))).code == "no-session"


def test_a_session_is_found_by_the_start_of_its_id(home: _Home) -> None:
    """A unique start is enough, in any project; a whole id wins over one that only starts so."""
    short, long = home.session("abc"), home.session("abcdef", home.root)
    assert home.find("abc") == short
    assert home.find("abcd") == long
    for wanted in ("x", "", "bc", "ABC"):
        assert refusal(lambda wanted=wanted: home.find(wanted)).code == "session-not-found"  # type: ignore[misc]


def test_an_ambiguous_start_lists_up_to_five_candidates(home: _Home) -> None:
    """The person sees id and file of what there is to choose from, one line each."""
    for at in range(7):
        home.session(f"same{at}\n\ud83d", name=f"file\n{at}.jsonl")
    told = refusal(lambda: home.find("same"))
    assert told.code == "session-ambiguous"
    lines = told.message.split("\n")
    assert lines[0] == "7 sessions have an id that starts so:"
    assert len(lines) == 6
    assert lines[1].startswith('  same6\\n\\ud83d  "/')
    assert lines[1].endswith('file\\n6.jsonl"')
    told.message.encode()


def test_equal_copies_are_one_session_and_different_ones_are_ambiguous(home: _Home) -> None:
    """A backup that says the same is no ambiguity; one that was written on since is."""
    data = log(*chain(3))
    home.put("a.jsonl", data, "--one--")
    copy = home.put("b.jsonl", data, "--two--")
    assert home.find("s-1") == home.find("s-") == copy
    home.put("c.jsonl", data.replace(b"text 2", b"text 9"), "--three--")
    assert refusal(lambda: home.find("s-1")).code == "session-ambiguous"


def test_within_a_project_only_its_sessions_are_found(home: _Home) -> None:
    """Where only the project may be reached, other sessions do not exist, by no way of naming them."""
    other = home.session("abc-other", home.root)
    mine = home.session("abc-mine")
    project = os.fspath(home.project)
    assert home.find("abc", project=project) == mine
    assert home.find(mine, project=project) == mine
    for wanted in ("abc-other", other):
        assert refusal(lambda wanted=wanted: home.find(wanted, project=project)).code == "session-not-found"  # type: ignore[misc]


def test_a_session_is_found_by_its_file(home: _Home) -> None:
    """Absolute, relative and home paths name a file, also outside the session folders."""
    path = home.root / "copy.jsonl"
    path.write_bytes(log(header()))
    (home.project / "bare").write_bytes(log(header()))
    for wanted in (os.fspath(path), "../copy.jsonl", "~/copy.jsonl", f"file://{path}"):
        assert home.find(wanted) == os.fspath(path)
    assert home.find("bare") == os.fspath(home.project / "bare")


def test_what_is_named_but_no_session_file_is_refused_by_name(home: _Home) -> None:
    """Missing files, folders, pipes and other files each have their code, and none of them blocks."""
    os.mkfifo(home.root / "pipe")
    (home.root / "text.txt").write_text("hello")
    for wanted, code in [
        ("../none.jsonl", "file-missing"),
        ("none.jsonl", "file-missing"),
        ("..", "not-a-file"),
        ("../proj/", "not-a-file"),
        ("../pipe", "not-a-file"),
        ("../text.txt", "not-a-session"),
        ("/x\0y", "file-unreadable"),
    ]:
        assert refusal(lambda wanted=wanted: home.find(wanted)).code == code, wanted  # type: ignore[misc]


def test_unreadable_files_do_not_hide_the_others(home: _Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file that may not be read costs itself alone."""
    closed = home.session("closed")
    home.session("open")
    real = os.open

    def refuse(path: Any, *arguments: Any) -> int:
        if path == closed:
            raise PermissionError(13, "no")
        return real(path, *arguments)

    monkeypatch.setattr(os, "open", refuse)
    assert [session.header.id for session in locating.sessions(home.files())] == ["open"]
    assert refusal(lambda: home.find(closed)).code == "file-unreadable"
