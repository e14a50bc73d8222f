"""`config …` and how settings count."""

import json

import pytest
from pi_logs import talk
from shelled import Shell

from foundation.settings import SETTINGS


def shown(shell: Shell) -> dict[str, tuple[object, str]]:
    """Give every setting's value and origin."""
    return {
        row["path"]: (row["value"], row["origin"])
        for row in shell("config", "show", "--json", expect=0).json["settings"]
    }


def test_show_tells_every_setting(shell: Shell) -> None:
    """`config show` lists all settings with value, origin and what is valid."""
    told = shell("config", "show", expect=0).out

    assert set(shown(shell)) == set(SETTINGS)
    assert all(key in told for key in SETTINGS)


def test_the_bare_word_shows(shell: Shell) -> None:
    """`config` alone is `config show`, with the same options; a mistyped verb is still a mistake."""
    assert shell("config", expect=0).out == shell("config", "show", expect=0).out
    assert shell("config", "--json", expect=0).json == shell("--json", "config", "show", expect=0).json
    shell("config", "shwo", expect=2)
    assert "Commands:" in shell("config", "--help", expect=0).out


def test_set_and_unset_go_into_the_project_or_the_global_file(shell: Shell) -> None:
    """A saved value wins over the default, the project's over the owner's; unset brings the one before back."""
    shell("config", "set", "historyTools.maxResults", "9", "--global", expect=0)
    shell("config", "set", "historyTools.maxResults", "3", expect=0)
    assert shown(shell)["historyTools.maxResults"] == (3, "project")
    assert json.loads((shell.project / ".pi" / "context.json").read_text()) == {"historyTools": {"maxResults": 3}}

    shell("config", "unset", "historyTools.maxResults", expect=0)
    assert shown(shell)["historyTools.maxResults"] == (9, "global")
    assert json.loads((shell.project / ".pi" / "context.json").read_text()) == {}


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("historyTools.maxResults", "13", "invalid-setting"),
        ("historyTools.maxResults", "true", "invalid-setting"),
        ("historyTools.enabled", "yes", "invalid-setting"),
        ("historyTools.defaultScope", "project", "invalid-setting"),
        ("privacy.remoteDefaultAllowed", '["local-only"]', "invalid-setting"),
        ("privacy.remoteProviders", '{"x":["local-only"]}', "invalid-setting"),
        ("sessionRebase.preserveSource", "false", "invalid-setting"),
        ("historyTools", "{}", "unknown-setting"),
        ("no.such", "1", "unknown-setting"),
        ("historyTools.maxResults", "NaN", "invalid-setting"),
    ],
)
def test_a_bad_value_is_refused_and_nothing_is_saved(shell: Shell, key: str, value: str, code: str) -> None:
    """A value that is not valid ends with 1 and its code, and leaves no file behind."""
    said = shell("config", "set", key, value, "--json", expect=1)

    assert json.loads(said.err)["error"]["code"] == code
    assert not (shell.project / ".pi" / "context.json").exists()


def test_a_bad_value_in_a_file_is_rejected_alone(shell: Shell) -> None:
    """Other values of the file count; the bad one is told, and the one before it stays."""
    shell.settings(
        {
            "historyTools": {"maxResults": 99, "includeSummaries": True},
            "privacy": {"remoteDefaultAllowed": ["local-only"]},
            "x": 1,
        }
    )

    said = shell("config", "show", "--json", expect=0).json
    values = {row["path"]: row["value"] for row in said["settings"]}

    assert (values["historyTools.maxResults"], values["historyTools.includeSummaries"]) == (6, True)
    assert values["privacy.remoteDefaultAllowed"] == ["normal", "internal"]
    assert len(said["messages"]) == 3


@pytest.mark.parametrize("content", [b"{not json", b"[]", b"\xff\xfe", b"", b"{" * 100_000])
def test_a_damaged_file_is_ignored_told_and_left(shell: Shell, content: bytes) -> None:
    """A file that is no JSON object changes nothing, is named, and `config set` does not overwrite it."""
    path = shell.agent_dir / "context.json"
    path.write_bytes(content)

    assert shown(shell)["historyTools.maxResults"] == (6, "default")
    said = shell("config", "set", "historyTools.maxResults", "3", "--global", "--json", expect=1)
    assert json.loads(said.err)["error"]["code"] == "settings-damaged"
    assert path.read_bytes() == content


def test_a_project_may_tighten_and_not_loosen(shell: Shell) -> None:
    """Without saved trust a project's file narrows what is shown, and cannot widen it; with trust it can."""
    (shell.project / ".pi").mkdir()
    file = shell.project / ".pi" / "context.json"
    file.write_text(
        json.dumps({"historyTools": {"allowProjectScope": True}, "privacy": {"remoteDefaultAllowed": ["normal"]}})
    )
    assert shown(shell)["historyTools.allowProjectScope"] == (False, "default")
    assert shown(shell)["privacy.remoteDefaultAllowed"] == (["normal"], "project")

    file.write_text(
        json.dumps({"privacy": {"remoteDefaultAllowed": ["normal", "sensitive"], "localProviders": ["cloud"]}})
    )
    assert shown(shell)["privacy.remoteDefaultAllowed"] == (["normal", "internal"], "default")
    assert shown(shell)["privacy.localProviders"][1] == "default"

    (shell.agent_dir / "trust.json").write_text(json.dumps({str(shell.project): True}))
    assert shown(shell)["privacy.remoteDefaultAllowed"] == (["normal", "sensitive"], "project")


def test_switched_off_history_says_so(shell: Shell) -> None:
    """With `historyTools.enabled` false, search, read and status answer `history-disabled`."""
    shell.add(*talk(["zebra"]))
    shell("config", "set", "historyTools.enabled", "false", expect=0)

    assert shell.search("zebra", expect=1)["code"] == "history-disabled"
    assert shell("history", "read", "h_x", "--json", expect=1).json["code"] == "history-disabled"
    assert shell("history", "status", "--json", expect=1).json["code"] == "history-disabled"


def test_the_settings_cap_what_a_search_may_take(shell: Shell) -> None:
    """Limit and budget in force are the smaller of what is asked and what is set."""
    shell.add(*talk(12, text=lambda number: f"zebra {number}"))
    shell("config", "set", "historyTools.maxResults", "2", expect=0)

    assert len(shell.search("zebra", "--limit", "12")["hits"]) == 2


def test_project_scope_follows_pis_trust(shell: Shell) -> None:
    """A project with Pi's protected resources and no saved decision is not trusted; --approve trusts it once."""
    shell.settings({"historyTools": {"allowProjectScope": True}})
    shell.add(*talk(["zebra"]))
    (shell.project / ".pi" / "extensions").mkdir(parents=True)

    assert shell.search("zebra", "--scope", "project", expect=1)["code"] == "project-not-trusted"
    assert shell.search("zebra", "--scope", "project", "--approve")["hits"]
    (shell.agent_dir / "trust.json").write_text(json.dumps({str(shell.home): True}))
    assert shell.search("zebra", "--scope", "project")["hits"]
    assert shell.search("zebra", "--scope", "project", "--no-approve", expect=1)["code"] == "project-not-trusted"
