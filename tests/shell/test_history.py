"""`history …` as a person types it."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pi_logs import message, talk
from shelled import Shell

from foundation.marks import OUTPUT_LINE
from pi_context import command_line, direct


def test_a_search_finds_and_a_read_gives_it_back_verified(shell: Shell) -> None:
    """The main job: a search gives a reference, and reading it gives the whole text with the digest of its line."""
    from hashlib import sha256

    path = shell.add(*talk(["Keep totals in grams.", "Noted: grams."]))

    hit = shell.search("grams totals")["hits"][0]
    answer = shell("history", "read", hit["sourceRef"], "--json", expect=0).json

    assert answer["text"] == "Keep totals in grams."
    assert answer["verified"] is True
    assert answer["sha256"] == sha256(path.read_bytes().splitlines()[1]).hexdigest()


def test_output_for_people_into_a_pipe_says_what_it_is(shell: Shell) -> None:
    """Piped output opens with the line by which recall knows its echo; a terminal does not see it."""
    shell.add(*talk(["about zebras"]))

    piped = shell("history", "search", "zebras", expect=0)
    seen = shell("history", "search", "zebras", expect=0, terminal=True)

    assert piped.out.startswith(OUTPUT_LINE + "\n")
    assert OUTPUT_LINE not in seen.out
    assert "about zebras" in piped.out
    assert "about zebras" in seen.out


def test_our_own_output_is_no_source(shell: Shell) -> None:
    """What a search printed and a shell tool logged again is not found again."""
    entries = talk(["the okapi decision stands"])
    shell.add(*entries)
    echo = shell("history", "search", "okapi", expect=0).out
    as_json = shell("history", "search", "okapi", "--json", expect=0).out

    shell.add(*entries, message(2, 1, "toolResult", echo), message(3, 2, "toolResult", as_json))

    assert shell.found("okapi") == ["00000001"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((" ",), "invalid-query"),
        (("x" * 2001,), "invalid-query"),
        (("x", "--limit", "0"), "invalid-limit"),
        (("x", "--limit", "13"), "invalid-limit"),
        (("x", "--skip", "-1"), "invalid-limit"),
        (("x", "--max-output-tokens", "255"), "invalid-budget"),
        (("x", "--max-output-tokens", "6001"), "invalid-budget"),
        (("x", "--scope", "nowhere"), "invalid-scope"),
        (("x", "--role", "system"), "invalid-role"),
        (("x", "--tool", ""), "invalid-tool"),
        (("x", "--after", "yesterday"), "invalid-date"),
        (("x", "--after", "2026-11-21", "--before", "2026-11-20"), "invalid-date-range"),
        (("x", "--scope", "project"), "project-scope-disabled"),
        (("x", "--scope", "everywhere"), "owner-act-required"),
        (("x", "--leaf", "ffffffff"), "entry-not-found"),
    ],
)
def test_a_value_out_of_range_is_an_answer_with_its_code(shell: Shell, words: tuple[str, ...], code: str) -> None:
    """A refused search answers `unavailable` on stdout with exit 1, for people and for programs."""
    shell.add(*talk(["x"]))

    answer = shell("history", "search", *words, "--json", expect=1).json
    told = shell("history", "search", *words, expect=1)

    assert (answer["status"], answer["code"], answer["hits"]) == ("unavailable", code, [])
    assert f"[{code}]" in told.out


@pytest.mark.parametrize(
    "words", [("history", "search"), ("history", "search", "x", "--limit", "many"), ("history", "nope"), ("history", "read"),
              ("history", "read", "h_x", "--nope"), ("--nope",), ("history", "search", "x", "--color", "blue")],
)  # fmt: skip
def test_words_that_do_not_fit_are_usage(shell: Shell, words: tuple[str, ...]) -> None:
    """Unknown options, missing arguments and wrong kinds end with 2, under --json as one object on stderr."""
    told = shell(*words, expect=2)
    answer = shell(*words, "--json", expect=2)

    assert "Usage" in told.err
    assert json.loads(answer.err)["error"]["code"] == "usage"
    assert told.out == answer.out == ""


@pytest.mark.parametrize("query", ["-Wall", "--flags", "-x", "--no-such-option=1", "-1"])
def test_an_unknown_option_in_a_query_is_text(shell: Shell, query: str) -> None:
    """What looks like an option and is none belongs to the query."""
    shell.add(*talk([f"we compile with {query} always"]))

    assert shell.found(query) == ["00000001"]


def test_global_options_stand_anywhere(shell: Shell) -> None:
    """Global options may come before or after the command, and between the words of a query."""
    path = shell.add(*talk(["alpha beta"]))
    places = [
        ("--json", "--session", path, "history", "search", "alpha", "beta"),
        ("history", "--json", "search", "alpha", "--session", path, "beta"),
        ("history", "search", "alpha", "beta", f"--session={path}", "--json"),
    ]

    assert [[hit["entryId"] for hit in shell(*words, expect=0).json["hits"]] for words in places] == [["00000001"]] * 3


WORDS = st.lists(
    st.one_of(
        st.sampled_from(["history", "search", "read", "status", "--json", "-v", "-q", "--reveal", "--scope", "--limit", "5", "x", "--session",
                         "s1", "--limit=3", "--role", "user", "--color", "never", "--", "-x", "--after", "2026-11-20", "--help", "--json=1"]),
        st.text(max_size=8),
    ),
    max_size=9,
)  # fmt: skip


@given(WORDS)
@example(["-q0"])
@example(["-xv"])
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
def test_the_short_way_reads_words_as_click_does(words: list[str]) -> None:
    """Whatever the short way accepts, click reads the very same way."""
    words = ["history", "search", *words]
    short = direct.parse(words)
    if short is None:
        return

    assert command_line.read(words) == short


def test_dates_are_local_and_echoed_as_instants(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare date is midnight in local time, and the answer says which instant that is."""
    import time

    shell.add(*talk(["x ray"]))
    instants = {}
    for zone in ("Asia/Seoul", "America/Los_Angeles"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        instants[zone] = shell.search("ray", "--after", "2026-11-19")["after"]
    monkeypatch.delenv("TZ")
    time.tzset()

    assert instants == {"Asia/Seoul": "2026-11-18T15:00:00.000Z", "America/Los_Angeles": "2026-11-19T08:00:00.000Z"}


def test_status_tells_numbers_to_the_owner_only(shell: Shell) -> None:
    """Anybody hears whether the index is current; sessions and sizes are the owner's."""
    shell.add(*talk(["x"]))
    shell("index", "update", expect=0)

    told = shell("history", "status", "--json", expect=0).json
    owner = shell("history", "status", "--json", expect=0, terminal=True).json

    assert told["indexCurrent"] is True
    assert "index" not in told
    assert owner["index"]["entries"] == 1


def test_control_characters_of_a_log_do_not_reach_a_terminal(shell: Shell) -> None:
    """An escape sequence in a log is shown as what it is, never sent on."""
    shell.add(*talk(["zebra \x1b]0;owned\x07\x1b[2J\u202e end"]))

    told = shell("history", "search", "zebra", expect=0, terminal=True)

    assert "\x1b]" not in told.out
    assert "\u202e" not in told.out
    assert "\\x1b[2J" in told.out


def test_colours_come_when_they_are_asked_for(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Colours follow --color, else the terminal, unless NO_COLOR says otherwise."""
    shell.add(*talk(["zebra"]))
    plain = shell("history", "search", "zebra", expect=0, terminal=True).out
    forced = shell("history", "search", "zebra", "--color", "always", expect=0).out
    monkeypatch.delenv("NO_COLOR")
    coloured = shell("history", "search", "zebra", expect=0, terminal=True).out

    assert "\x1b[" not in plain
    assert "\x1b[" in forced
    assert "\x1b[" in coloured


def test_exclusions_keep_a_session_out_of_other_searches(shell: Shell) -> None:
    """An excluded session is found by nobody but itself, until the owner includes it again."""
    shell.settings({"owner": {"scripts": True}, "historyTools": {"allowProjectScope": True}})
    shell.add(*talk(["a zebra here"]), name="a.jsonl", identity="aaaa")
    own = shell.add(*talk(["nothing"]), name="b.jsonl", identity="bbbb")

    def project_hits() -> list[str]:
        return [hit["sessionId"] for hit in shell.search("zebra", "--scope", "project", "--session", own)["hits"]]

    assert project_hits() == ["aaaa"]
    shell("history", "exclude", "aaaa", expect=0)
    assert project_hits() == []
    assert shell.found("zebra", "--session", "aaaa") == ["00000001"]
    assert shell("history", "exclusions", "--json", expect=0).json == {"sessions": ["aaaa"]}
    shell("history", "include", "aaaa", expect=0)
    assert project_hits() == ["aaaa"]
